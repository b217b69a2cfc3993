/** From a body to what the router is told, and what the engine is sent. */
import type { ErrorCode } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import { emptyChain } from '../../core/block-chain.ts'
import type { EndpointKey, RequestArrived } from '../../core/events.ts'
import type { ServedRequest } from '../../io/http1-server/served.ts'
import { type Api, pathEndOf } from '../../protocol/api.ts'
import type { PromptRead } from '../../protocol/prompt-hasher.ts'
import { readRequest, spliceModel } from '../../protocol/read-request.ts'
import { modelOfForm } from './form-model.ts'
import type { Gateway } from './gateway.ts'
import { headerOf } from './headers.ts'
import type { ExchangeRoute } from './route-of.ts'

export interface Incoming {
  readonly arrived: RequestArrived
  /** What is sent: the client's own bytes, but for a model that an alias names. */
  readonly body: Buffer[] | null
  readonly path: string
  readonly prompt: PromptRead | null
  /** The engine stores something for it: never sent twice once it may have begun. */
  readonly storesState: boolean
}

/** The exchange that a body came in by. */
export interface IncomingOwner {
  readonly gateway: Gateway
  readonly requestId: string
  readonly api: Api
  readonly route: ExchangeRoute
  readonly served: ServedRequest
}

export interface IncomingProblem {
  readonly code: ErrorCode
  readonly message: string
}

const defaultTenant = 'default'
/** Characters of a session's or a tenant's name that count. */
const namesCharsMax = 256
/** A call that names something stored is small. */
const idBodyBytesMax = 65_536

export function readIncoming(exchange: IncomingOwner, body: Buffer): Incoming | IncomingProblem {
  const { route } = exchange
  if (route.kind === 'stored') return stored(exchange, body, route.id)
  if (route.kind === 'pass') return passed(exchange, body, route.modelInPath, route.storesState)
  return prompted(exchange, body)
}

function prompted(exchange: IncomingOwner, body: Buffer): Incoming | IncomingProblem {
  const { metrics } = exchange.gateway.parts
  const read = readRequest(exchange.api, body, namespaceOf(exchange))
  if (!read.ok) {
    // The engine refuses it in its own words, or knows a shape that we do not.
    metrics.fellBack('body-not-understood')
    const target = aliased(exchange, read.model)
    const pieces = target === null ? [body] : spliced(body, read.modelSpan, target)
    const model = target ?? read.model
    return {
      arrived: arrivedOf(exchange, { model, streaming: read.streaming }),
      body: pieces,
      path: pathOf(exchange),
      prompt: null,
      // The responses API stores unless told not to.
      storesState: exchange.api === 'responses',
    }
  }
  const { request } = read
  let pinnedTo: EndpointKey | null = null
  if (request.previousResponseId !== null) {
    const owner = ownerOf(exchange, request.previousResponseId)
    if (typeof owner === 'object' && owner !== null) return owner
    pinnedTo = owner
  }
  const target = aliased(exchange, request.model)
  return {
    arrived: arrivedOf(exchange, {
      model: target ?? request.model,
      chain: request.prompt.chain,
      promptBytes: request.prompt.bytes,
      maxOutputTokens: request.maxOutputTokens,
      streaming: request.streaming,
      pinnedTo,
    }),
    body: target === null ? [body] : spliced(body, request.modelSpan, target),
    path: pathOf(exchange),
    prompt: request.prompt,
    storesState: request.storesState,
  }
}

/** Anything else: routed by the model that the body, the form or the path names. */
function passed(
  exchange: IncomingOwner,
  body: Buffer,
  modelInPath: string | null,
  storesState: boolean,
): Incoming {
  const type = headerOf(exchange.served.head.headers, 'content-type') ?? ''
  let model = modelInPath
  let pieces: Buffer[] | null = body.length === 0 ? null : [body]
  if (model === null && body.length > 0) {
    if (/^(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(type)) {
      const named = modelOfForm(type, body)
      model = named?.model ?? null
      const target = aliased(exchange, model)
      if (target !== null && named!.span !== null) {
        const { start, end } = named!.span
        pieces = [body.subarray(0, start), Buffer.from(target), body.subarray(end)]
        model = target
      }
    } else {
      const read = readRequest('other', body, '')
      const known = read.ok ? read.request : read
      model = known.model
      const target = aliased(exchange, model)
      if (target !== null) {
        pieces = spliced(body, known.modelSpan, target)
        model = target
      }
    }
  }
  const needs = storesState ? storedIdIn(body) : null
  // Where nobody is known to hold it, an engine says so.
  const pinnedTo = needs === null ? null : exchange.gateway.parts.owners.ownerOf(needs)
  return {
    arrived: arrivedOf(exchange, { model, pinnedTo }),
    body: pieces,
    path: pathOf(exchange),
    prompt: null,
    storesState,
  }
}

/** A batch is made of a file that one engine holds. */
function storedIdIn(body: Buffer): string | null {
  if (body.length > idBodyBytesMax) return null
  return /"(?:input_file_id|training_file)"\s*:\s*"([^"\\]+)"/.exec(body.toString())?.[1] ?? null
}

/** Asks for, changes or drops something by its id alone. */
function stored(exchange: IncomingOwner, body: Buffer, id: string): Incoming | IncomingProblem {
  const owner = ownerOf(exchange, id)
  if (typeof owner === 'object' && owner !== null) return owner
  return {
    arrived: arrivedOf(exchange, { pinnedTo: owner }),
    body: body.length === 0 ? null : [body],
    path: pathOf(exchange),
    prompt: null,
    storesState: exchange.served.head.method !== 'GET',
  }
}

/** Who holds what was stored under this id: with one endpoint there is no question. */
function ownerOf(exchange: IncomingOwner, id: string): EndpointKey | null | IncomingProblem {
  const { router, parts } = exchange.gateway
  const { owners } = parts
  const owner = owners.ownerOf(id)
  if (owner !== null || router.fleet.size <= 1) return owner
  return {
    code: 'response_not_found',
    message:
      `No endpoint is known to hold '${id}'. It was stored before this router started, or its ` +
      'engine is gone: store it again, or send the conversation in full.',
  }
}

function arrivedOf(exchange: IncomingOwner, known: Partial<RequestArrived>): RequestArrived {
  const { headers } = exchange.served.head
  const { config } = exchange.gateway.parts
  let sessionKey: string | null = null
  for (const name of config.sessionHeaders) sessionKey ??= headerOf(headers, name)
  return {
    type: 'request-arrived',
    atMs: exchange.gateway.nowMs(),
    requestId: exchange.requestId,
    model: null,
    chain: emptyChain,
    promptBytes: 0,
    maxOutputTokens: null,
    streaming: false,
    sessionKey: sessionKey === null ? null : sessionKey.slice(0, namesCharsMax),
    tenant: tenantOf(headers, config),
    priorityClass: 'standard',
    pinnedTo: null,
    ...known,
  }
}

/** Who is charged and protected: only a header that the operator vouches for may say. */
export function tenantOf(headers: readonly string[], config: Config): string {
  const named = config.tenantHeader === null ? null : headerOf(headers, config.tenantHeader)
  return named?.slice(0, namesCharsMax) ?? defaultTenant
}

/** Tenants do not share a cache namespace; without tenants there is one. */
function namespaceOf(exchange: IncomingOwner): string {
  const tenant = tenantOf(exchange.served.head.headers, exchange.gateway.parts.config)
  return tenant === defaultTenant ? '' : tenant
}

function aliased(exchange: IncomingOwner, model: string | null): string | null {
  if (model === null) return null
  const { aliases } = exchange.gateway.parts.config
  return Object.hasOwn(aliases, model) ? aliases[model]! : null
}

function spliced(body: Buffer, span: Parameters<typeof spliceModel>[1] | null, model: string) {
  return span === null ? [body] : spliceModel(body, span, model)
}

/** Engines redirect a trailing slash, and a redirected POST is lost: it is taken off instead. */
function pathOf(exchange: IncomingOwner): string {
  const { target } = exchange.served.head
  const query = target.indexOf('?')
  const path = target.slice(0, pathEndOf(target))
  return query < 0 ? path : path + target.slice(query)
}
