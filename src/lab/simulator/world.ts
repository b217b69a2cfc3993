/**
 * The discrete-event world: the production router, engines of the model, and clients that send open
 * loop or turn by turn. One seed reproduces a run to the byte.
 */

import type { Decision, Dispatch } from '../../core/decisions.ts'
import type { EndpointKey, RouterEvent } from '../../core/events.ts'
import type { Router } from '../../core/router.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import {
  blockTokens,
  bytesPerToken,
  headOf,
  type Turn,
  type Workload,
  type WorkloadSession,
} from '../workload/session.ts'
import type { SimulatedRequest } from './request-record.ts'
import {
  type FleetMember,
  joiningEvents,
  type SimulatedEngine,
  type SimulatedFleet,
} from './simulated-fleet.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface WorldOptions {
  readonly time: VirtualTime
  readonly fleet: SimulatedFleet
  readonly members: readonly FleetMember[]
  readonly router: Router
  readonly workload: Workload
  /** Time between two scrapes of an engine; null leaves the router without them. */
  readonly scrapeIntervalMs: number | null
  /** Ends the run early, with what is in flight unfinished; null runs to the end. */
  readonly untilMs: number | null
  readonly onDecision?: (decision: Decision, atMs: number) => void
}

interface OpenTurn {
  readonly session: WorkloadSession
  readonly index: number
  readonly turn: Turn
  readonly record: SimulatedRequest
}

export interface WorldResult {
  readonly requests: readonly SimulatedRequest[]
  readonly engines: ReadonlyMap<EndpointKey, SimulatedEngine>
  /** When the last request ended. */
  readonly endMs: number
}

export class World {
  readonly time: VirtualTime
  readonly #options: WorldOptions
  readonly #engines: ReadonlyMap<EndpointKey, SimulatedEngine>
  readonly #requests: SimulatedRequest[] = []
  readonly #open = new Map<string, OpenTurn>()
  #ids = 0
  #unfinished = 0
  /** Sessions that start when others end, in their order. */
  readonly #later: WorkloadSession[]
  #endMs = 0
  #cancelWake: (() => void) | null = null

  constructor(options: WorldOptions) {
    this.#options = options
    this.time = options.time
    this.#engines = options.fleet.engines
    const { sessions, sessionsAtOnce } = options.workload
    this.#later = sessionsAtOnce === undefined ? [] : sessions.slice(sessionsAtOnce)
  }

  /** To change an engine during the run, at a time of `time`. */
  get engines(): ReadonlyMap<EndpointKey, SimulatedEngine> {
    return this.#engines
  }

  run(): WorldResult {
    const { fleet, members, workload, untilMs } = this.#options
    for (const member of members) {
      fleet.start(member, (progress) => this.#progressed(progress))
      for (const event of joiningEvents(member, 0)) this.#tell(event)
      this.#scrape(member.endpoint)
    }
    for (const session of workload.sessions.slice(0, workload.sessionsAtOnce)) this.#start(session)
    while (this.#unfinished > 0 && this.time.step()) {
      if (untilMs != null && this.time.nowMs() > untilMs) break
    }
    return { requests: this.#requests, engines: this.#engines, endMs: this.#endMs }
  }

  #start(session: WorkloadSession): void {
    if (session.turns.length === 0) {
      this.#startNext()
      return
    }
    this.#unfinished++
    this.time.at(session.startMs, () => this.#send(session, 0))
  }

  #startNext(): void {
    const next = this.#later.shift()
    if (next !== undefined) this.#start(next)
  }

  #send(session: WorkloadSession, index: number): void {
    const turn = session.turns[index]!
    const atMs = this.time.nowMs()
    const requestId = `q${this.#ids++}`
    const record: SimulatedRequest = {
      sessionId: session.id,
      turn: index,
      tenant: session.tenant,
      priorityClass: session.priorityClass,
      readyMs: atMs,
      promptTokens: turn.promptTokens,
      outputTokens: turn.outputTokens,
      endpoint: null,
      dispatchedMs: null,
      firstTokenMs: null,
      finishedMs: null,
      cachedTokens: 0,
      predictedTtftMs: null,
      predictedCachedTokens: null,
      refused: null,
    }
    this.#requests.push(record)
    this.#open.set(requestId, { session, index, turn, record })
    this.#tell({
      type: 'request-arrived',
      atMs,
      requestId,
      model: this.#options.members[0]!.profile.model,
      chain: headOf(turn.chain, Math.floor(turn.promptTokens / blockTokens)),
      promptBytes: turn.promptTokens * bytesPerToken,
      maxOutputTokens: null,
      streaming: true,
      sessionKey: null,
      tenant: session.tenant,
      priorityClass: session.priorityClass,
      pinnedTo: null,
    })
  }

  #tell(event: RouterEvent): void {
    for (const decision of this.#options.router.handle(event)) {
      this.#options.onDecision?.(decision, event.atMs)
      if (decision.type === 'dispatch') this.#dispatch(decision)
      else if (decision.type === 'refuse') this.#refused(decision.requestId, decision.code)
      else if (decision.type === 'wake') this.#wakeAt(decision.atMs)
    }
  }

  #wakeAt(atMs: number): void {
    this.#cancelWake?.()
    this.#cancelWake = this.time.at(atMs, () => {
      this.#cancelWake = null
      this.#tell({ type: 'timer-due', atMs: this.time.nowMs() })
    })
  }

  #dispatch(dispatch: Dispatch): void {
    const open = this.#open.get(dispatch.requestId)!
    const { turn, record } = open
    record.endpoint = dispatch.endpoint
    record.dispatchedMs = this.time.nowMs()
    record.predictedTtftMs = dispatch.predictedTtftMs
    record.predictedCachedTokens = dispatch.cachedTokens
    this.#engines.get(dispatch.endpoint)!.loop.submit({
      id: dispatch.requestId,
      chain: turn.chain,
      promptTokens: turn.promptTokens,
      outputTokens: turn.outputTokens,
    })
  }

  #refused(requestId: string, code: string): void {
    const open = this.#open.get(requestId)!
    this.#open.delete(requestId)
    open.record.refused = code
    this.#endSession()
  }

  #progressed(progress: RequestProgress): void {
    const requestId = progress.record.id as string
    const open = this.#open.get(requestId)!
    const { record, turn } = open
    const atMs = this.time.nowMs()
    if (record.firstTokenMs === null) {
      record.firstTokenMs = progress.record.firstTokenMs ?? atMs
      record.cachedTokens = progress.record.cachedGpuTokens + progress.record.cachedHostTokens
      this.#tell({ type: 'first-token', atMs, requestId })
    } else if (!progress.finished) {
      const outputTokens = progress.record.generatedTokens
      this.#tell({ type: 'output-progressed', atMs, requestId, outputTokens })
    }
    if (!progress.finished) return
    record.finishedMs = atMs
    this.#open.delete(requestId)
    const tokens = turn.promptTokens + turn.outputTokens
    this.#tell({
      type: 'request-ended',
      atMs,
      requestId,
      outcome: 'done',
      phase: 'stream',
      cause: 'done',
      endpointFault: false,
      usage: {
        promptTokens: turn.promptTokens,
        outputTokens: turn.outputTokens,
        cachedTokens: record.cachedTokens,
      },
      answered: {
        chain: headOf(turn.chain, Math.floor(tokens / blockTokens)),
        bytes: tokens * bytesPerToken,
      },
    })
    this.#next(open)
  }

  #next({ session, index }: OpenTurn): void {
    const following = session.turns[index + 1]
    if (following === undefined) {
      this.#endSession()
      return
    }
    this.time.at(this.time.nowMs() + following.gapMs, () => this.#send(session, index + 1))
  }

  #endSession(): void {
    this.#unfinished--
    this.#endMs = this.time.nowMs()
    this.#startNext()
  }

  #scrape(endpoint: EndpointKey): void {
    const { scrapeIntervalMs } = this.#options
    if (scrapeIntervalMs === null) return
    const { model } = this.#engines.get(endpoint)!
    this.time.at(this.time.nowMs() + scrapeIntervalMs, () => {
      const kvUsage = model.pool.usage
      this.#tell({
        type: 'endpoint-observed',
        atMs: this.time.nowMs(),
        endpoint,
        signals: {
          running: model.running,
          waiting: model.waiting,
          kvUsage,
          asleep: false,
          prefixQueriedTokens: null,
          prefixHitTokens: null,
        },
      })
      this.#scrape(endpoint)
    })
  }
}
