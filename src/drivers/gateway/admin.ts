/** What operators and machines ask of the router itself. */
import type { Config } from '../../config/config.ts'
import type { ServedModel } from '../../core/fleet/endpoint.ts'
import type { Router } from '../../core/router.ts'
import { fleetStatus, learnedOf, modelStatus } from '../../observe/fleet-status.ts'
import type { Metrics } from '../../observe/metrics.ts'
import type { RecentDecisions } from '../../observe/recent-decisions.ts'
import type { ConfigStatus, HeldRequest, RouterStatus } from '../../observe/status.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'
import { type ModelsShape, renderModel, renderModelsList } from '../../protocol/models-list.ts'
import type { Route } from './route-of.ts'

export type AdminRoute = Extract<Route, { kind: 'admin' | 'decision' | 'models' | 'model' }>

/** What the pages are made of. */
export interface AdminView {
  readonly router: Router
  readonly metrics: Metrics
  readonly recent: RecentDecisions
  readonly config: Config
  readonly configStatus: ConfigStatus
  readonly version: string
  readonly startedAtMs: number
  nowMs(): number
  readonly draining: boolean
  readonly openRequests: number
  readonly openConnections: number
  readonly upstreamConnections: number
  readonly droppedLines: { readonly log: number; readonly decisions: number }
}

export interface AdminAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const json = 'application/json'
const text = 'text/plain; charset=utf-8'

export async function adminAnswer(
  route: AdminRoute,
  request: { readonly anthropic: boolean },
  view: AdminView,
): Promise<AdminAnswer> {
  const shape: ModelsShape = request.anthropic ? 'anthropic' : 'openai'
  switch (route.kind) {
    case 'decision':
      return decision(route.id, view)
    case 'models':
      return { status: 200, contentType: json, body: renderModelsList(modelsOf(view), shape) }
    case 'model':
      return model(route.id, shape, view)
    case 'admin':
      return page(route.page, view)
  }
}

async function page(
  name: Extract<AdminRoute, { kind: 'admin' }>['page'],
  view: AdminView,
): Promise<AdminAnswer> {
  if (name === 'healthz') return { status: 200, contentType: text, body: 'ok\n' }
  const status = routerStatus(view)
  if (name === 'status') {
    return { status: 200, contentType: json, body: `${JSON.stringify(status, null, 1)}\n` }
  }
  if (name === 'metrics') {
    const body = await view.metrics.render(status)
    return { status: 200, contentType: view.metrics.contentType, body }
  }
  if (status.ready) return { status: 200, contentType: text, body: 'ready\n' }
  const reasons = status.endpoints.map(({ url, reason }) => `${url}: ${reason}\n`).join('')
  const why = view.draining ? 'draining\n' : `no endpoint can take a request\n${reasons}`
  return { status: 503, contentType: text, body: why }
}

function decision(id: string, view: AdminView): AdminAnswer {
  const found = view.recent.find(id)
  if (found !== null) return { status: 200, contentType: json, body: JSON.stringify(found) }
  const message = `No decision about '${id}' is remembered; only the last requests are.`
  return {
    status: 404,
    contentType: json,
    body: renderErrorBody('other', 'not_found', message, null),
  }
}

function model(id: string, shape: ModelsShape, view: AdminView): AdminAnswer {
  const models = modelsOf(view)
  const body = renderModel(models, id, shape)
  if (body !== null) return { status: 200, contentType: json, body }
  const names = [...new Set(models.map((one) => one.id))].slice(0, 20).join(', ')
  const message = `No endpoint serves the model '${id}'. Served here: ${names}.`
  const api = shape === 'anthropic' ? 'messages' : 'other'
  return {
    status: 404,
    contentType: json,
    body: renderErrorBody(api, 'model_not_found', message, null),
  }
}

/** Every model that some endpoint serves, and the aliases of those. */
function modelsOf(view: AdminView): ServedModel[] {
  const models: ServedModel[] = []
  for (const endpoint of view.router.fleet.values()) {
    models.push(...(endpoint.description.models ?? []))
  }
  for (const [alias, target] of Object.entries(view.config.aliases)) {
    const served = models.find((one) => one.id === target)
    if (served !== undefined) models.push({ ...served, id: alias })
  }
  return models
}

function routerStatus(view: AdminView): RouterStatus {
  const { router, metrics } = view
  const nowMs = view.nowMs()
  const endpoints = fleetStatus(router.fleet, nowMs, learnedOf(router.learning, router.index))
  return {
    version: view.version,
    policy: router.policy.name,
    uptimeMs: nowMs - view.startedAtMs,
    ready: !view.draining && endpoints.some((endpoint) => endpoint.routable),
    draining: view.draining,
    config: view.configStatus,
    openRequests: view.openRequests,
    heldRequests: router.heldRequests,
    held: heldStatus(router, nowMs),
    admission: router.admission,
    sessions: router.sessions.size,
    indexEntries: endpoints.reduce((sum, { url }) => sum + blocksHeld(router, url), 0),
    openConnections: { client: view.openConnections, upstream: view.upstreamConnections },
    counters: router.counters,
    fallbacks: metrics.fallbacks(router.counters, router.learning.beliefsDropped),
    droppedLines: view.droppedLines,
    models: modelStatus(endpoints),
    endpoints,
  }
}

/** Requests that wait, those that wait longest first. */
const heldShownMax = 20

function heldStatus(router: Router, nowMs: number): HeldRequest[] {
  return router.longestHeld(heldShownMax).map(({ request, reason, sinceMs, deadlineMs }) => ({
    requestId: request.arrived.requestId,
    model: request.arrived.model,
    tenant: request.arrived.tenant,
    sessionId: request.session?.id ?? null,
    reason,
    waitedMs: nowMs - sinceMs,
    deadlineInMs: deadlineMs - nowMs,
  }))
}

function blocksHeld(router: Router, endpoint: string): number {
  const state = router.fleet.get(endpoint)
  if (state === undefined) return 0
  const { gpuBlocks, hostBlocks } = router.index.size(state.slot)
  return gpuBlocks + hostBlocks
}
