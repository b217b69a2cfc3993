/**
 * The discrete-event world: the production router, engines of the model, and clients that send open
 * loop or turn by turn. One seed reproduces a run to the byte.
 */
import { blockBytes } from '../../core/block-chain.ts'
import type { Decision, Dispatch } from '../../core/decisions.ts'
import type { EndpointKey } from '../../core/events.ts'
import type { Router } from '../../core/router.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import { blockTokens, headOf, type Workload } from '../workload/session.ts'
import { type Call, Clients } from './clients.ts'
import { FleetSide, type FleetSideOptions, type Stay } from './fleet-side.ts'
import type { SimulatedRequest, SimulatedSession } from './request-record.ts'
import { RouterSide } from './router-side.ts'
import type { SimulatedEngine, SimulatedFleet } from './simulated-fleet.ts'
import { keepTimeline, type Timeline } from './timeline.ts'
import { TokenGaps } from './token-gaps.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Simulated time without a request going anywhere, after which a run has come to a standstill. */
const standstillMs = 24 * 3_600_000

/** The router hears of a stream's progress once in so many tokens, as from the gateway. */
const progressTokens = 64

export interface WorldOptions extends FleetSideOptions {
  readonly time: VirtualTime
  readonly fleet: SimulatedFleet
  /** A new router that knows nothing yet: the first one, and one for each restart. */
  readonly newRouter: () => Router
  readonly workload: Workload
  /** Whether clients name their session in a header. */
  readonly sessionKeys: boolean
  /** Time between two samples of the fleet's state; null keeps none. */
  readonly timelineMs: number | null
  /** Ends the run early, with what is in flight unfinished; null runs to the end. */
  readonly untilMs: number | null
  readonly onDecision?: (decision: Decision, atMs: number) => void
}

export interface WorldResult {
  readonly requests: readonly SimulatedRequest[]
  readonly sessions: readonly SimulatedSession[]
  /** Every engine that ran. */
  readonly engines: readonly SimulatedEngine[]
  readonly stays: readonly Stay[]
  readonly timeline: Timeline
  /** Time between two tokens of an answer, over all answers. */
  readonly gaps: TokenGaps
  /** When the last session ended, or the run was cut off. */
  readonly endMs: number
}

/** A call on its way, and what was last seen of its answer. */
interface OpenCall extends Call {
  readonly side: RouterSide
  toldTokens: number
  seenMs: number
}

export class World {
  readonly time: VirtualTime
  readonly #options: WorldOptions
  readonly #clients: Clients
  readonly #fleetSide: FleetSide
  /** The one that takes what comes, and those before it that are not done. */
  #sides: RouterSide[]
  readonly #open = new Map<string, OpenCall>()
  readonly #gaps = new TokenGaps()
  /** When a request last arrived, was sent, or made progress. */
  #movedMs = 0
  readonly #blockTokens: number

  constructor(options: WorldOptions) {
    const { time, fleet, workload } = options
    this.time = time
    this.#options = options
    this.#blockTokens = workload.blockTokens ?? blockTokens
    this.#sides = [this.#newSide()]
    this.#clients = new Clients(workload, time, (call) => this.#arrived(call))
    this.#fleetSide = new FleetSide(fleet, time, options, {
      tell: (event) => {
        for (const side of this.#sides) side.tell(event)
      },
      routerRestarts: () => this.#restartRouter(),
      progressed: (engine, progress) => this.#progressed(engine, progress),
      lost: (engine) => this.#lost(engine),
      inFlight: (endpoint) => this.#callsOn(endpoint).length,
    })
  }

  /** The router that takes what comes. */
  get router(): Router {
    return this.#sides[0]!.router
  }

  run(): WorldResult {
    const { fleet, untilMs } = this.#options
    const timeline = this.#timeline()
    this.#fleetSide.start()
    this.#clients.start()
    while (this.#clients.open > 0 && this.time.step()) {
      const nowMs = this.time.nowMs()
      if (untilMs !== null && nowMs > untilMs) break
      if (nowMs - this.#movedMs > standstillMs) throw new Error(this.#standstill())
    }
    return {
      requests: this.#clients.requests,
      sessions: this.#clients.sessions,
      engines: fleet.all,
      stays: this.#fleetSide.stays,
      timeline,
      gaps: this.#gaps,
      endMs: this.time.nowMs(),
    }
  }

  #standstill(): string {
    const held = [...this.#open.values()].filter(({ record }) => record.dispatchedMs === null)
    const at = `${Math.round(this.#movedMs / 1_000)} s`
    return `nothing moves since ${at}, and ${held.length} of ${this.#open.size} requests wait`
  }

  #timeline(): Timeline {
    const { timelineMs, fleet } = this.#options
    if (timelineMs === null) return { atMs: [], held: [], engines: [] }
    const held = (): number => this.#sides.reduce((sum, { router }) => sum + router.heldRequests, 0)
    return keepTimeline(timelineMs, this.time, { engines: fleet.all, held })
  }

  #arrived(call: Call): void {
    const { requestId, session, turn } = call
    this.#movedMs = this.time.nowMs()
    const side = this.#sides[0]!
    this.#open.set(requestId, { ...call, side, toldTokens: 0, seenMs: 0 })
    side.tell({
      type: 'request-arrived',
      atMs: this.time.nowMs(),
      requestId,
      model: this.#options.members[0]!.profile.model,
      chain: headOf(turn.chain, Math.floor(turn.promptTokens / this.#blockTokens)),
      promptBytes: this.#bytesOf(turn.promptTokens),
      maxOutputTokens: null,
      streaming: true,
      sessionKey: this.#options.sessionKeys ? session.id : null,
      tenant: session.tenant,
      priorityClass: session.priorityClass,
      pinnedTo: null,
    })
  }

  /** A block of a chain stands for `blockBytes` of a prompt, however many tokens it has. */
  #bytesOf(tokens: number): number {
    return (tokens * blockBytes) / this.#blockTokens
  }

  #newSide(): RouterSide {
    return new RouterSide(this.#options.newRouter(), this.time, (decision, atMs) => {
      this.#options.onDecision?.(decision, atMs)
      if (decision.type === 'dispatch') this.#dispatch(decision)
      else if (decision.type === 'refuse') this.#refused(decision.requestId, decision.code)
    })
  }

  #restartRouter(): void {
    const side = this.#newSide()
    this.#fleetSide.introduce((event) => side.tell(event))
    const inUse = new Set([...this.#open.values()].map((call) => call.side))
    this.#sides = [side, ...this.#sides.filter((one) => inUse.has(one))]
  }

  #dispatch(dispatch: Dispatch): void {
    const call = this.#open.get(dispatch.requestId)!
    const { turn, record, requestId } = call
    record.endpoint = dispatch.endpoint
    record.attempts++
    this.#movedMs = this.time.nowMs()
    record.dispatchedMs ??= this.time.nowMs()
    record.predictedTtftMs = dispatch.predictedTtftMs
    record.predictedCachedTokens = dispatch.cachedTokens
    const engine = this.#options.fleet.get(dispatch.endpoint)!
    if (!engine.alive) {
      // Not within the decision: the router must not be told while it is telling.
      this.time.at(this.time.nowMs(), () => this.#connectFailed(call))
    } else if (!fits(engine, turn)) {
      this.time.at(this.time.nowMs(), () => this.#tooLong(call))
    } else {
      const { chain, promptTokens, outputTokens } = turn
      engine.loop.submit({ id: requestId, chain, promptTokens, outputTokens })
    }
  }

  #connectFailed(call: OpenCall): void {
    const { endpoint } = call.record
    this.#attemptFailed(call, 'connect', 'refused', false)
    this.#fleetSide.refused(endpoint!)
  }

  #attemptFailed(call: OpenCall, phase: 'connect' | 'sent', cause: string, mayRun: boolean): void {
    call.side.tell({
      type: 'attempt-failed',
      atMs: this.time.nowMs(),
      requestId: call.requestId,
      phase,
      cause,
      mayRun,
      endpointFault: true,
      mayRetry: true,
      retryAfterMs: null,
    })
  }

  /** The engine answers 400, and the gateway passes that on. */
  #tooLong(call: OpenCall): void {
    call.record.outcome = 'refused'
    call.record.reason = 'longer than the engine takes'
    this.#endedBadly(call, 'status 400', false)
  }

  #refused(requestId: string, code: string): void {
    const call = this.#open.get(requestId)!
    this.#open.delete(requestId)
    call.record.outcome = code.startsWith('upstream') ? 'failed' : 'refused'
    call.record.reason = code
    this.#clients.gaveUp(call)
  }

  /** What had no answer yet goes elsewhere; an answer that broke off has failed. */
  #lost({ member }: SimulatedEngine): number {
    const calls = this.#callsOn(member.endpoint)
    for (const call of calls) {
      if (call.record.firstTokenMs === null) {
        this.#attemptFailed(call, 'sent', 'reset', true)
        continue
      }
      call.record.outcome = 'failed'
      call.record.reason = 'reset'
      this.#endedBadly(call, 'reset', true)
    }
    return calls.length
  }

  #callsOn(endpoint: EndpointKey): OpenCall[] {
    return [...this.#open.values()].filter(({ record }) => record.endpoint === endpoint)
  }

  #endedBadly(call: OpenCall, cause: string, endpointFault: boolean): void {
    const { requestId } = call
    this.#open.delete(requestId)
    call.side.tell({
      type: 'request-ended',
      atMs: this.time.nowMs(),
      requestId,
      outcome: 'failed',
      phase: endpointFault ? 'stream' : 'headers',
      cause,
      endpointFault,
      usage: { promptTokens: null, outputTokens: null, cachedTokens: null },
      answered: null,
    })
    this.#clients.gaveUp(call)
  }

  #progressed({ member }: SimulatedEngine, progress: RequestProgress): void {
    const call = this.#open.get(progress.record.id as string)!
    const { record, requestId } = call
    const atMs = this.time.nowMs()
    this.#movedMs = atMs
    if (record.firstTokenMs === null) {
      record.firstTokenMs = atMs
      record.cachedTokens = progress.record.cachedGpuTokens + progress.record.cachedHostTokens
      call.side.tell({ type: 'first-token', atMs, requestId })
    } else {
      this.#gaps.add((atMs - call.seenMs) / progress.tokens, progress.tokens)
    }
    call.seenMs = atMs
    if (progress.finished) this.#finished(call, member.endpoint)
    else this.#told(call, progress.record.generatedTokens)
  }

  #told(call: OpenCall, outputTokens: number): void {
    if (outputTokens - call.toldTokens < progressTokens) return
    call.toldTokens = outputTokens
    const { requestId } = call
    call.side.tell({ type: 'output-progressed', atMs: this.time.nowMs(), requestId, outputTokens })
  }

  #finished(call: OpenCall, endpoint: EndpointKey): void {
    const { requestId, record, turn } = call
    const { promptTokens, outputTokens } = turn
    const atMs = this.time.nowMs()
    record.finishedMs = atMs
    record.outcome = 'done'
    this.#open.delete(requestId)
    const tokens = promptTokens + outputTokens
    call.side.tell({
      type: 'request-ended',
      atMs,
      requestId,
      outcome: 'done',
      phase: 'stream',
      cause: 'done',
      endpointFault: false,
      usage: { promptTokens, outputTokens, cachedTokens: record.cachedTokens },
      answered: {
        chain: headOf(turn.chain, Math.floor(tokens / this.#blockTokens)),
        bytes: this.#bytesOf(tokens),
      },
    })
    this.#fleetSide.idle(endpoint)
    this.#clients.answered(call)
  }
}

/** Whether the engine takes a request of that size at all. */
function fits(
  { model, member }: SimulatedEngine,
  turn: { readonly promptTokens: number; readonly outputTokens: number },
): boolean {
  const capacityTokens = model.pool.capacityBlocks * model.profile.blockTokens
  const tokensMax = Math.min(capacityTokens, member.profile.contextTokensMax)
  return turn.promptTokens + turn.outputTokens <= tokensMax
}
