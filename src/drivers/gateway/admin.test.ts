import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chainOf, RouterHarness } from '../../../test/support/router-harness.ts'
import { emptyStatus } from '../../../test/support/status-sample.ts'
import { defaultConfig } from '../../config/config.ts'
import type { RequestArrived } from '../../core/events.ts'
import type { ServedModel } from '../../core/fleet/endpoint.ts'
import { Metrics } from '../../observe/metrics.ts'
import { RecentDecisions } from '../../observe/recent-decisions.ts'
import { type AdminRoute, type AdminView, adminAnswer } from './admin.ts'

const openai = { anthropic: false }

function served(id: string): ServedModel {
  return { id, parent: null, maxModelLen: null }
}

function viewOf(harness: RouterHarness, changes: Partial<AdminView> = {}): AdminView {
  return {
    router: harness.router,
    metrics: new Metrics(),
    recent: new RecentDecisions(10),
    config: defaultConfig,
    configStatus: emptyStatus().config,
    version: '1.2.3',
    startedAtMs: 1_000,
    nowMs: () => 5_000,
    draining: false,
    openRequests: 0,
    openConnections: 0,
    upstreamConnections: 0,
    droppedLines: { log: 0, decisions: 0 },
    ...changes,
  }
}

function page(
  name: Extract<AdminRoute, { kind: 'admin' }>['page'],
  view: AdminView,
): ReturnType<typeof adminAnswer> {
  return adminAnswer({ kind: 'admin', page: name }, openai, view)
}

describe('/healthz', () => {
  for (const draining of [false, true]) {
    test(`is ok without endpoints, draining: ${draining}`, async () => {
      const { status, body } = await page('healthz', viewOf(new RouterHarness(0), { draining }))
      assert.deepEqual([status, body], [200, 'ok\n'])
    })
  }
})

describe('/readyz', () => {
  test('is 200 while one endpoint may be chosen', async () => {
    const harness = new RouterHarness(2)
    harness.probe('http://e0', false, 'connection refused')
    assert.equal((await page('readyz', viewOf(harness))).status, 200)
  })

  test('is 503 with the reason of each endpoint where none may', async () => {
    const harness = new RouterHarness(1)
    harness.probe('http://e0', false, 'connection refused')
    const at = { atMs: 0, endpoint: 'http://e1', description: {} }
    harness.router.handle({ type: 'endpoint-joined', ...at })
    const { status, body } = await page('readyz', viewOf(harness))
    assert.equal(status, 503)
    assert.match(body, /^http:\/\/e0: connection refused$/m)
    assert.match(body, /^http:\/\/e1: not probed yet$/m)
  })

  test('is 503 while the router drains, whatever its endpoints', async () => {
    const { status, body } = await page('readyz', viewOf(new RouterHarness(1), { draining: true }))
    assert.deepEqual([status, body], [503, 'draining\n'])
  })
})

describe('/status', () => {
  test('says what the router knows of itself and of each endpoint', async () => {
    const harness = new RouterHarness(2)
    harness.send(chainOf(1, 4))
    harness.probe('http://e1', false, 'connection refused')
    const counts = { openRequests: 1, openConnections: 2, upstreamConnections: 3 }
    const { status, contentType, body } = await page('status', viewOf(harness, counts))
    assert.deepEqual([status, contentType], [200, 'application/json'])
    const shown = JSON.parse(body)
    assert.equal(shown.version, '1.2.3')
    assert.equal(shown.policy, 'warmpath')
    assert.equal(shown.uptimeMs, 4_000)
    assert.equal(shown.ready, true)
    assert.equal(shown.openRequests, 1)
    assert.deepEqual(shown.openConnections, { client: 2, upstream: 3 })
    assert.deepEqual(shown.models, [{ id: 'm', endpoints: 2, routableEndpoints: 1 }])
    const rows = shown.endpoints as { url: string; routable: boolean; reason: string }[]
    assert.deepEqual(
      rows.map(({ url, routable, reason }) => [url, routable, reason]),
      [
        ['http://e0', true, 'ready'],
        ['http://e1', false, 'connection refused'],
      ],
    )
    assert.equal(shown.endpoints[0].inFlight + shown.endpoints[1].inFlight, 1)
  })

  test('is not ready where /readyz is not', async () => {
    const view = viewOf(new RouterHarness(1), { draining: true })
    const { ready, draining } = JSON.parse((await page('status', view)).body)
    assert.deepEqual([ready, draining], [false, true])
  })
})

test('/metrics is in the format that Prometheus reads, with a row for each endpoint', async () => {
  const { status, contentType, body } = await page('metrics', viewOf(new RouterHarness(1)))
  assert.equal(status, 200)
  assert.match(contentType, /^text\/plain; version=/)
  assert.match(body, /^# TYPE warmpath_/m)
  assert.match(body, /endpoint="http:\/\/e0"/)
})

describe('/debug/decisions/ID', () => {
  test('explains a request that is remembered', async () => {
    const harness = new RouterHarness(1)
    const recent = new RecentDecisions(10)
    const arrived: RequestArrived = {
      type: 'request-arrived',
      atMs: 7,
      requestId: 'x',
      model: 'm',
      chain: chainOf(1, 2),
      promptBytes: 1_024,
      maxOutputTokens: null,
      streaming: true,
      sessionKey: null,
      tenant: 'default',
      priorityClass: 'standard',
      pinnedTo: null,
    }
    recent.arrived(arrived)
    for (const decision of harness.router.handle(arrived)) {
      if (decision.type === 'dispatch') recent.decided(7, decision)
    }
    const view = viewOf(harness, { recent })
    const { status, body } = await adminAnswer({ kind: 'decision', id: 'x' }, openai, view)
    assert.equal(status, 200)
    const { requestId, promptBytes, steps, end } = JSON.parse(body)
    assert.deepEqual([requestId, promptBytes, end], ['x', 1_024, null])
    assert.equal(steps[0].what.endpoint, 'http://e0')
  })

  test('is 404 in the shape of an API error for any other', async () => {
    const view = viewOf(new RouterHarness(1))
    const answer = await adminAnswer({ kind: 'decision', id: 'gone' }, openai, view)
    assert.deepEqual([answer.status, answer.contentType], [404, 'application/json'])
    assert.match(JSON.parse(answer.body).error.message, /gone/)
  })
})

describe('/v1/models', () => {
  function twoModels(): AdminView {
    const harness = new RouterHarness(0)
    harness.join('http://e0', { models: [served('org/a')] })
    harness.join('http://e1', { models: [served('org/a'), served('b')] })
    const aliases = { short: 'org/a', dangling: 'nobody-serves-this' }
    return viewOf(harness, { config: { ...defaultConfig, aliases } })
  }

  for (const anthropic of [false, true]) {
    const shape = anthropic ? 'Anthropic' : 'OpenAI'
    test(`lists each model once, and the aliases of those, in the ${shape} shape`, async () => {
      const { body } = await adminAnswer({ kind: 'models' }, { anthropic }, twoModels())
      const list = JSON.parse(body)
      const ids = (list.data as { id: string }[]).map(({ id }) => id)
      assert.deepEqual(ids, ['org/a', 'b', 'short'])
      assert.equal(list.object, anthropic ? undefined : 'list')
      assert.equal(list.has_more, anthropic ? false : undefined)
    })
  }

  test('F113: one is found by its name with slashes, and by its alias', async () => {
    for (const id of ['org/a', 'short']) {
      const { status, body } = await adminAnswer({ kind: 'model', id }, openai, twoModels())
      assert.equal(status, 200)
      assert.equal(JSON.parse(body).id, id)
    }
  })

  test('one that nobody serves is 404, and the answer names those that are', async () => {
    const route = { kind: 'model', id: 'dangling' } as const
    const refused = await adminAnswer(route, openai, twoModels())
    assert.equal(refused.status, 404)
    const { error } = JSON.parse(refused.body)
    assert.equal(error.code, 'model_not_found')
    assert.match(error.message, /'dangling'.*org\/a, b, short/)
    const anthropic = await adminAnswer(route, { anthropic: true }, twoModels())
    assert.equal(JSON.parse(anthropic.body).type, 'error')
  })
})
