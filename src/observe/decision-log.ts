/** Writes the decision log. A line that cannot be taken at once is dropped and counted. */
import type { Clock } from '../base/scheduler.ts'
import { blockBytes } from '../core/block-chain.ts'
import type { CandidateReasons, Dispatch, Hold, Refuse } from '../core/decisions.ts'
import type {
  EndpointDescribed,
  EndpointJoined,
  EndpointKey,
  EndpointLeft,
  RequestArrived,
  RequestEnded,
} from '../core/events.ts'
import { ChainBases } from './chain-text.ts'
import type {
  CandidateRow,
  ChainText,
  DecisionLogLine,
  HeaderRecord,
  OutcomeRecord,
} from './decision-record.ts'
import { decisionLogVersion } from './decision-record.ts'

/** Takes lines without ever blocking; `io/line-file` is the one that writes a file. */
export interface LineSink {
  /** False when the line was dropped because the queue is full. */
  write(line: string): boolean
  /** Bytes in the current file, those that are queued for it included. */
  readonly fileBytes: number
  /** Goes on with a new, empty file. */
  rotate(): void
}

export interface DecisionLogOptions {
  readonly policy: string
  readonly routerVersion: string
  /** Leaves the prompts' block hashes out when false; such a log cannot be replayed exactly. */
  readonly chains: boolean
  /** Size at which a new file is begun. */
  readonly fileBytesMax: number
  /** Wall-clock time, ISO 8601. */
  readonly wallTime: () => string
}

/** What the driver measured of a request that was dispatched. */
export interface Measured {
  readonly endpoint: EndpointKey
  readonly status: number | null
  readonly attempts: number
  readonly ttftMs: number | null
  readonly ttftSinceDispatchMs: number | null
  readonly e2eMs: number
}

const candidatesMax = 8
/** Blocks of one chain; longer prompts are logged by their head. */
const chainBlocksMax = 16_384

export class DecisionLog {
  readonly #sink: LineSink
  readonly #clock: Clock
  readonly #options: DecisionLogOptions
  readonly #bases = new ChainBases()
  readonly #endpoints = new Map<EndpointKey, EndpointJoined['description']>()
  #droppedLines = 0

  constructor(sink: LineSink, clock: Clock, options: DecisionLogOptions) {
    this.#sink = sink
    this.#clock = clock
    this.#options = options
    this.#write(this.#header())
  }

  get droppedLines(): number {
    return this.#droppedLines
  }

  endpoint(event: EndpointJoined | EndpointDescribed | EndpointLeft): void {
    const { atMs, endpoint } = event
    const known = this.#endpoints.get(endpoint)
    // Something may still be on its way for an endpoint that has left.
    if (known === undefined && event.type !== 'endpoint-joined') return
    const told = event.type === 'endpoint-left' ? {} : event.description
    const description = { ...known, ...told }
    const present = event.type !== 'endpoint-left'
    if (present) this.#endpoints.set(endpoint, description)
    else this.#endpoints.delete(endpoint)
    this.#write({ type: 'endpoint', atMs, endpoint, present, description })
  }

  /** @param attempt for a refusal: the number of the attempt that it did not get */
  decided(
    atMs: number,
    arrived: RequestArrived,
    decision: Dispatch | Hold | Refuse,
    attempt = 1,
  ): void {
    this.#beginFileWhenFull()
    const sent = decision.type === 'dispatch' ? decision : null
    const number = sent?.attempt ?? attempt
    const session = sent?.sessionId ?? arrived.sessionKey
    const withChain = this.#options.chains && number === 1 && decision.type !== 'hold'
    const chain = withChain ? headOf(arrived.chain) : null
    const text: ChainText | null = chain === null ? null : this.#bases.encode(session, chain)
    const written = this.#write({
      type: 'decision',
      id: arrived.requestId,
      atMs: rounded(atMs),
      arrivedAtMs: rounded(arrived.atMs),
      decision: decision.type,
      attempt: number,
      model: arrived.model,
      tenant: arrived.tenant,
      class: arrived.priorityClass,
      session,
      promptBytes: arrived.promptBytes,
      promptTokens: sent?.promptTokens ?? null,
      maxOutputTokens: arrived.maxOutputTokens,
      streaming: arrived.streaming,
      queueWaitMs: rounded(atMs - arrived.atMs),
      endpoint: sent?.endpoint ?? null,
      code: decision.type === 'refuse' ? decision.code : null,
      summary: summaryOf(decision),
      cachedTokens: sent?.cachedTokens ?? null,
      predictedTtftMs: sent === null ? null : rounded(sent.predictedTtftMs),
      candidates: sent?.reasons.candidates.slice(0, candidatesMax).map(candidateRow) ?? [],
      chain: text,
    })
    // What a dropped line held is not in the log, so nothing may build on it.
    if (written && chain !== null) this.#bases.remember(session, arrived.requestId, chain)
  }

  ended(event: RequestEnded, measured: Measured): void {
    const { usage } = event
    const record: OutcomeRecord = {
      type: 'outcome',
      id: event.requestId,
      atMs: rounded(event.atMs),
      endpoint: measured.endpoint,
      outcome: event.outcome,
      phase: event.phase,
      cause: event.cause,
      status: measured.status,
      attempts: measured.attempts,
      ttftMs: roundedOrNull(measured.ttftMs),
      ttftSinceDispatchMs: roundedOrNull(measured.ttftSinceDispatchMs),
      e2eMs: rounded(measured.e2eMs),
      promptTokens: usage.promptTokens,
      outputTokens: usage.outputTokens,
      cachedTokens: usage.cachedTokens,
      answeredBytes: event.answered?.bytes ?? null,
    }
    this.#write(record)
  }

  /** Each file can be read alone: it begins with the fleet and builds on no chain of another. */
  #beginFileWhenFull(): void {
    if (this.#sink.fileBytes < this.#options.fileBytesMax) return
    this.#sink.rotate()
    this.#bases.clear()
    this.#write(this.#header())
    const atMs = rounded(this.#clock.nowMs())
    for (const [endpoint, description] of this.#endpoints) {
      this.#write({ type: 'endpoint', atMs, endpoint, present: true, description })
    }
  }

  #header(): HeaderRecord {
    return {
      type: 'header',
      version: decisionLogVersion,
      startedAt: this.#options.wallTime(),
      startedAtMs: rounded(this.#clock.nowMs()),
      routerVersion: this.#options.routerVersion,
      policy: this.#options.policy,
      blockBytes,
      chains: this.#options.chains,
    }
  }

  #write(line: DecisionLogLine): boolean {
    const written = this.#sink.write(`${JSON.stringify(line)}\n`)
    if (!written) this.#droppedLines++
    return written
  }
}

function summaryOf(decision: Dispatch | Hold | Refuse): string {
  if (decision.type === 'refuse') return decision.message
  return decision.type === 'hold' ? decision.reason : decision.reasons.summary
}

function headOf(chain: RequestArrived['chain']): RequestArrived['chain'] {
  return { ...chain, length: Math.min(chain.length, chainBlocksMax) }
}

function candidateRow(candidate: CandidateReasons): CandidateRow {
  return [
    candidate.endpoint,
    Math.round(candidate.gpuTokens),
    Math.round(candidate.hostTokens),
    rounded(candidate.waitMs),
    rounded(candidate.prefillMs),
    rounded(candidate.decodeMs),
    rounded(candidate.externalityMs),
    rounded(candidate.score),
  ]
}

/** To a hundredth: finer than any clock here means something, and shorter lines. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}

function roundedOrNull(ms: number | null): number | null {
  return ms === null ? null : rounded(ms)
}
