import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualScheduler } from '../../../test/support/manual-scheduler.ts'
import { AssertionError } from '../../base/assert.ts'
import { seededRandom } from '../../base/random.ts'
import { defaultConfig } from '../../config/config.ts'
import { emptyChain } from '../../core/block-chain.ts'
import type { Dispatch } from '../../core/decisions.ts'
import type { RequestArrived, RouterEvent } from '../../core/events.ts'
import { policies } from '../../core/policy/registry.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import { Router } from '../../core/router.ts'
import { silentLogger } from '../../observe/logger.ts'
import { Metrics } from '../../observe/metrics.ts'
import { RecentDecisions } from '../../observe/recent-decisions.ts'
import { Gateway } from './gateway.ts'
import type { OpenExchange } from './open-exchange.ts'
import { ResponseOwners } from './response-owners.ts'

/** A router that finds itself wrong when it is told of this request. */
class FailingRouter extends Router {
  override handle(event: RouterEvent): ReturnType<Router['handle']> {
    if ('requestId' in event && event.requestId === 'fatal') throw new AssertionError('told so')
    return super.handle(event)
  }
}

function gatewayWithOneEndpoint(): Gateway {
  const gateway = new Gateway({
    config: defaultConfig,
    log: silentLogger,
    metrics: new Metrics(),
    recent: new RecentDecisions(10),
    decisionLog: null,
    scheduler: new ManualScheduler(),
    makeRouter: () =>
      new FailingRouter({
        policy: policies['round-robin'](),
        index: new ApproximateIndex(),
        random: seededRandom(1),
        unknownModels: 'reject',
      }),
    links: new Map(),
    owners: new ResponseOwners(),
    idPrefix: 'test',
    probeSoon: () => {},
  })
  const at = { atMs: 0, endpoint: 'http://e0' } as const
  const models = [{ id: 'm', parent: null, maxModelLen: null }]
  gateway.tell({ type: 'endpoint-joined', ...at, description: {} })
  gateway.tell({ type: 'endpoint-described', ...at, description: { models } })
  gateway.tell({ type: 'endpoint-probed', ...at, healthy: true, reason: '' })
  return gateway
}

class Open implements OpenExchange {
  readonly servedBy = null
  readonly lastSignMs = 0
  endpoint: string | null = null
  readonly told: string[] = []
  readonly requestId: string
  readonly #gateway: Gateway

  constructor(gateway: Gateway, requestId: string) {
    this.#gateway = gateway
    this.requestId = requestId
    gateway.opened(this)
  }
  dispatched({ endpoint }: Dispatch): void {
    this.endpoint = endpoint
    this.told.push(`dispatched to ${endpoint}`)
  }
  refused(): void {
    this.told.push('refused')
  }
  readonly isHeld = false

  held(): void {}
  engineGone(): void {}
  endpointRemoved(): void {}
  shutDown(): void {}
  fault(): void {
    this.told.push('fault')
    this.#gateway.closed(this)
  }
  coreRebuilt(): void {
    this.told.push('core rebuilt')
  }
  arrive(): void {
    this.#gateway.tell(arrival(this.requestId))
  }
}

function arrival(requestId: string): RequestArrived {
  return {
    type: 'request-arrived',
    atMs: 0,
    requestId,
    model: 'm',
    chain: emptyChain,
    promptBytes: 0,
    maxOutputTokens: null,
    streaming: false,
    sessionKey: null,
    tenant: 'default',
    priorityClass: 'standard',
    pinnedTo: null,
  }
}

test('a core that fails is replaced: one request is lost, the fleet is known again', () => {
  const gateway = gatewayWithOneEndpoint()
  const before = gateway.router
  const running = new Open(gateway, 'running')
  running.arrive()
  const fatal = new Open(gateway, 'fatal')
  fatal.arrive()
  assert.notEqual(gateway.router, before)
  assert.deepEqual(fatal.told, ['fault'])
  assert.deepEqual(running.told, ['dispatched to http://e0', 'core rebuilt'])
  const next = new Open(gateway, 'next')
  next.arrive()
  assert.deepEqual(next.told, ['dispatched to http://e0'])
  const fallbacks = gateway.parts.metrics.fallbacks(gateway.router.counters, 0)
  assert.equal(fallbacks['core-rebuilt'], 1)
})

test('the end of a request that the new core does not know is no fault', () => {
  const gateway = gatewayWithOneEndpoint()
  const running = new Open(gateway, 'running')
  running.arrive()
  new Open(gateway, 'fatal').arrive()
  gateway.tell({
    type: 'request-ended',
    atMs: 1,
    requestId: 'running',
    outcome: 'done',
    phase: 'stream',
    cause: 'done',
    endpointFault: false,
    usage: { promptTokens: null, outputTokens: null, cachedTokens: null },
    answered: null,
  })
  assert.deepEqual(running.told.at(-1), 'core rebuilt')
  assert.equal(gateway.router.fleet.get('http://e0')!.ledger.inFlight, 0)
})
