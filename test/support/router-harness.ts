/** A router with its fleet in a test's hands: time is set by the test, ids are counted. */
import { seededRandom } from '../../src/base/random.ts'
import type { BlockChain } from '../../src/core/block-chain.ts'
import { blockBytes } from '../../src/core/block-chain.ts'
import type { Decision, Dispatch } from '../../src/core/decisions.ts'
import type { Outcome, RequestArrived, RequestEnded, Usage } from '../../src/core/events.ts'
import type { EndpointDescription } from '../../src/core/fleet/endpoint.ts'
import { type PolicyName, policies } from '../../src/core/policy/registry.ts'
import { ApproximateIndex } from '../../src/core/prefix/approximate-index.ts'
import { Router, type RouterOptions } from '../../src/core/router.ts'

export const model = 'm'

const described: EndpointDescription = {
  engine: 'vllm',
  models: [{ id: model, parent: null, maxModelLen: null }],
  kvCapacityTokens: 400_000,
}

/** Tokens of one block under the prior of 4 bytes a token. */
export const blockTokens = blockBytes / 4

/** A chain of `blocks` blocks that starts with the blocks of `parent`; `seed` makes the rest. */
export function chainOf(seed: number, blocks: number, parent?: BlockChain): BlockChain {
  const head = parent?.length ?? 0
  const lo = new Uint32Array(head + blocks)
  const hi = new Uint32Array(head + blocks)
  if (parent !== undefined) {
    lo.set(parent.lo.subarray(0, head))
    hi.set(parent.hi.subarray(0, head))
  }
  for (let i = head; i < head + blocks; i++) {
    const before = i === 0 ? 0x9e3779b9 : lo[i - 1]!
    lo[i] = Math.imul(before ^ (seed + 1), 0x85ebca6b) ^ (before >>> 13)
    hi[i] = Math.imul(before + seed, 0xc2b2ae35) ^ i
  }
  return { lo, hi, length: head + blocks }
}

export class RouterHarness {
  readonly router: Router
  nowMs = 0
  #ids = 0

  constructor(
    endpoints: number,
    policy: PolicyName = 'warmpath',
    seed = 1,
    admission: RouterOptions['admission'] = null,
  ) {
    this.router = new Router({
      policy: policies[policy](),
      index: new ApproximateIndex(),
      random: seededRandom(seed),
      unknownModels: 'reject',
      admission,
    })
    for (let i = 0; i < endpoints; i++) this.join(`http://e${i}`)
  }

  join(endpoint: string, description: EndpointDescription = described): void {
    const { nowMs: atMs, router } = this
    router.handle({ type: 'endpoint-joined', atMs, endpoint, description })
    router.handle({ type: 'endpoint-probed', atMs, endpoint, healthy: true, reason: '' })
  }

  leave(endpoint: string): void {
    this.router.handle({ type: 'endpoint-left', atMs: this.nowMs, endpoint })
  }

  describe(endpoint: string, description: EndpointDescription): void {
    this.router.handle({ type: 'endpoint-described', atMs: this.nowMs, endpoint, description })
  }

  probe(endpoint: string, healthy: boolean, reason = ''): void {
    this.router.handle({ type: 'endpoint-probed', atMs: this.nowMs, endpoint, healthy, reason })
  }

  drain(endpoint: string, draining: boolean): void {
    this.router.handle({ type: 'endpoint-draining', atMs: this.nowMs, endpoint, draining })
  }

  arrive(chain: BlockChain, extra: Partial<RequestArrived> = {}): Decision {
    return this.arrival(chain, extra)[0]!
  }

  /** All that an arrival brings about: somebody else may start, too. */
  arrival(chain: BlockChain, extra: Partial<RequestArrived> = {}): readonly Decision[] {
    return this.router.handle({
      type: 'request-arrived',
      atMs: this.nowMs,
      requestId: `r${this.#ids++}`,
      model,
      chain,
      promptBytes: chain.length * blockBytes,
      maxOutputTokens: 100,
      streaming: true,
      sessionKey: null,
      tenant: 'default',
      priorityClass: 'standard',
      pinnedTo: null,
      ...extra,
    })
  }

  /** An arrival that must be dispatched. */
  send(chain: BlockChain, extra: Partial<RequestArrived> = {}): Dispatch {
    const decision = this.arrive(chain, extra)
    if (decision.type !== 'dispatch') throw new Error(`not dispatched: ${JSON.stringify(decision)}`)
    return decision
  }

  firstToken(dispatch: Dispatch): void {
    const { requestId } = dispatch
    this.router.handle({ type: 'first-token', atMs: this.nowMs, requestId })
  }

  fail(dispatch: Dispatch, cause: string, mayRun: boolean, mayRetry = true): Decision {
    return this.router.handle({
      type: 'attempt-failed',
      atMs: this.nowMs,
      requestId: dispatch.requestId,
      phase: mayRun ? 'sent' : 'connect',
      cause,
      mayRun,
      endpointFault: true,
      mayRetry,
      retryAfterMs: null,
    })[0]!
  }

  end(
    dispatch: { readonly requestId: string },
    outcome: Outcome = 'done',
    usage: Partial<Usage> = {},
    answered: RequestEnded['answered'] = null,
  ): readonly Decision[] {
    return this.router.handle({
      type: 'request-ended',
      atMs: this.nowMs,
      requestId: dispatch.requestId,
      outcome,
      phase: 'stream',
      cause: outcome,
      endpointFault: outcome === 'failed',
      usage: { promptTokens: null, outputTokens: null, cachedTokens: null, ...usage },
      answered,
    })
  }

  /** A timer that the router may have asked for. */
  tick(): readonly Decision[] {
    return this.router.handle({ type: 'timer-due', atMs: this.nowMs })
  }

  /** Sends, prefills, answers and ends one request. */
  complete(chain: BlockChain, extra: Partial<RequestArrived> = {}): Dispatch {
    const dispatch = this.send(chain, extra)
    this.firstToken(dispatch)
    this.end(dispatch)
    return dispatch
  }

  inFlight(endpoint: string): number {
    return this.router.fleet.get(endpoint)!.ledger.inFlight
  }

  get totalInFlight(): number {
    let total = 0
    for (const endpoint of this.router.fleet.values()) total += endpoint.ledger.inFlight
    return total
  }
}
