import { assert } from '../../base/assert.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import type { TierMatch } from '../../core/prefix/prefix-index.ts'
import { Batcher, type CacheCounters, type StepPlan } from './batcher.ts'
import { type DecodeRun, runEndMs, stepsOver, stepsToReach } from './decode-run.ts'
import type { EngineCounters, RequestProgress, StepSample } from './engine-report.ts'
import { HostCache } from './host-cache.ts'
import { KvPool } from './kv-pool.ts'
import type { EngineProfile } from './profile.ts'
import {
  type EngineRequest,
  newSequence,
  type RequestId,
  type RequestRecord,
  type Sequence,
} from './request.ts'
import type { CacheListener } from './run-tree.ts'
import { decodeGrowthMs, prefillTimeMs, stepTimeMs } from './step-time.ts'

export interface EngineOptions {
  /**
   * How many decode steps may be one event; 1 (the default) reports every token at its time. A
   * simulator sets it high. Requests that come and go still take effect at the next step.
   */
  readonly decodeStepsMax?: number
  readonly onStep?: (sample: StepSample) => void
  readonly gpuListener?: CacheListener
  readonly hostListener?: CacheListener
}

interface StepInProgress {
  readonly plan: StepPlan
  readonly run: DecodeRun
  steps: number
}

/**
 * One inference engine: the step-time model, continuous batching and the prefix cache, in virtual
 * time and without randomness. Something outside calls `advance` at `wakeMs`; nothing else moves
 * its clock. Requests are submitted and aborted at any time in between.
 */
export class EngineModel {
  readonly profile: EngineProfile
  readonly #options: EngineOptions
  readonly #batcher: Batcher
  readonly #sequences = new Map<RequestId, Sequence>()
  /** On their way to the queue, by the time of their arrival there. */
  readonly #arriving: Sequence[] = []
  readonly #counters: Omit<EngineCounters, keyof CacheCounters> = {
    steps: 0,
    busyMs: 0,
    prefillMs: 0,
    computedPromptTokens: 0,
    promptTokens: 0,
    generatedTokens: 0,
    finishedRequests: 0,
    abortedRequests: 0,
  }
  #step: StepInProgress | undefined
  /** An abort made room while only loads were in progress: look at the queue again. */
  #roomMs: number | undefined
  #slowdown = 1
  /** When the last prompt that came has been tokenised. */
  #readMs = Number.NEGATIVE_INFINITY

  constructor(profile: EngineProfile, options: EngineOptions = {}) {
    this.profile = profile
    this.#options = options
    const { blockTokens, kvTokens, hostTokens } = profile
    const pool = new KvPool(Math.floor(kvTokens / blockTokens), options.gpuListener)
    const hostBlocks = Math.floor(hostTokens / blockTokens)
    const host = hostBlocks > 0 ? new HostCache(hostBlocks, options.hostListener) : undefined
    this.#batcher = new Batcher(profile, pool, host)
  }

  /** When `advance` is due; undefined while there is nothing to do. */
  get wakeMs(): number | undefined {
    if (this.#step !== undefined) return runEndMs(this.#step.run, this.#step.steps)
    if (this.#roomMs !== undefined) return this.#roomMs
    const arrivalMs = this.#arriving[0]?.record.queuedMs
    const loadedMs = this.#batcher.nextLoadedMs(Number.NEGATIVE_INFINITY)
    if (arrivalMs === undefined || loadedMs === undefined) return arrivalMs ?? loadedMs
    return Math.min(arrivalMs, loadedMs)
  }

  /** Requests whose first step has begun, and that are not over. */
  get running(): number {
    return this.#batcher.running.length
  }

  get waiting(): number {
    return this.#batcher.waiting.length
  }

  /** Of the running ones, those whose context is on its way from host memory at `nowMs`. */
  loading(nowMs: number): number {
    return this.#batcher.running.filter((sequence) => sequence.loadedMs > nowMs).length
  }

  get pool(): Omit<KvPool, 'acquire' | 'grow' | 'commit' | 'release'> {
    return this.#batcher.pool
  }

  /** Whole blocks at the head of the chain that are cached now, by tier. Changes nothing. */
  cachedBlocks(chain: BlockChain): TierMatch {
    const { pool, host } = this.#batcher
    const gpuBlocks = pool.match(chain, chain.length).blocks
    const both = Math.max(gpuBlocks, host?.matchBlocks(chain, chain.length) ?? 0)
    return { gpuBlocks, hostBlocks: both - gpuBlocks }
  }

  get hostUsedBlocks(): number {
    return this.#batcher.host?.usedBlocks ?? 0
  }

  get counters(): Readonly<EngineCounters> {
    return { ...this.#counters, ...this.#batcher.counters }
  }

  /** Makes every step from the next on `factor` times as long: a replica that degrades. */
  set slowdown(factor: number) {
    this.#slowdown = factor
  }

  /**
   * Takes a request at `nowMs`. Throws a RangeError where it can never fit the memory, and for an
   * id that is in use.
   */
  submit(request: EngineRequest, nowMs: number): RequestRecord {
    const { promptTokens, outputTokens } = request
    const { blockTokens, ingressMs, ingressMsPerToken } = this.profile
    const capacity = this.#batcher.pool.capacityBlocks * blockTokens
    if (!(promptTokens >= 1 && outputTokens >= 1 && promptTokens + outputTokens <= capacity)) {
      throw new RangeError(`${promptTokens} + ${outputTokens} tokens do not fit ${capacity}`)
    }
    if (this.#sequences.has(request.id)) throw new RangeError(`request id in use: ${request.id}`)
    this.#readMs = Math.max(nowMs, this.#readMs) + ingressMsPerToken * promptTokens
    const queuedMs = this.#readMs + ingressMs
    const sequence = newSequence(request, this.#batcher.pool.root, nowMs, queuedMs)
    this.#sequences.set(request.id, sequence)
    let place = this.#arriving.length
    while (place > 0 && this.#arriving[place - 1].record.queuedMs > queuedMs) place -= 1
    this.#arriving.splice(place, 0, sequence)
    this.#endStepAt(queuedMs)
    return sequence.record
  }

  /** Drops a request and frees its memory at once. False where it is not in the engine. */
  abort(id: RequestId, nowMs: number): boolean {
    const sequence = this.#sequences.get(id)
    if (sequence === undefined) return false
    this.#sequences.delete(id)
    this.#counters.abortedRequests += 1
    if (sequence.state === 'arriving') {
      sequence.state = 'over'
      this.#arriving.splice(this.#arriving.indexOf(sequence), 1)
    } else if (sequence.state === 'waiting') {
      this.#batcher.waiting.leave(sequence)
    } else {
      this.#abortRunning(sequence, nowMs)
    }
    this.#endStepAt(nowMs)
    if (this.#step === undefined && this.waiting > 0) this.#roomMs = nowMs
    return true
  }

  /**
   * Ends the step in progress, if any, and begins the next, at the time that `wakeMs` says. The
   * result is what the ended step brought.
   */
  advance(): readonly RequestProgress[] {
    const nowMs = this.wakeMs
    if (nowMs === undefined) return []
    const progress: RequestProgress[] = []
    if (this.#step !== undefined) this.#finishStep(this.#step, nowMs, progress)
    this.#beginStep(nowMs)
    return progress
  }

  #beginStep(nowMs: number): void {
    this.#roomMs = undefined
    while (this.#arriving.length > 0 && this.#arriving[0].record.queuedMs <= nowMs) {
      this.#batcher.waiting.push(this.#arriving.shift() as Sequence)
    }
    const plan = this.#batcher.schedule(nowMs)
    if (plan.scheduled.length === 0) {
      this.#checkIdle(nowMs)
      return
    }
    const { work } = plan
    const firstMs = stepTimeMs(this.profile, work) * this.#slowdown
    const growthMs = decodeGrowthMs(this.profile, work.decodes) * this.#slowdown
    const run = { startMs: nowMs, firstMs, growthMs }
    this.#step = { plan, run, steps: this.#stepsAlike(plan) }
    const dueMs = this.#arriving[0]?.record.queuedMs
    if (dueMs !== undefined) this.#endStepAt(dueMs)
    const loadedMs = this.#batcher.nextLoadedMs(nowMs)
    if (loadedMs !== undefined) this.#endStepAt(loadedMs)
  }

  #checkIdle(nowMs: number): void {
    const stuck = this.waiting > 0 && this.#batcher.nextLoadedMs(nowMs) === undefined
    assert(!stuck, 'an engine with waiting requests has something to do')
    // A context that has arrived wakes the engine once, not for ever.
    for (const sequence of this.#batcher.running) {
      assert(sequence.loadedMs > nowMs, 'a running sequence takes part in each step')
    }
  }

  /** Steps that will have the same sequences as the first, if nobody comes or goes. */
  #stepsAlike({ work, scheduled, preempted }: StepPlan): number {
    let steps = this.#options.decodeStepsMax ?? 1
    if (steps === 1 || preempted || work.prefilling > 0) return 1
    for (const { record } of scheduled) {
      steps = Math.min(steps, record.outputTokens - record.generatedTokens)
    }
    const { pool, profile } = this.#batcher
    // In n steps a sequence takes at most ⌊n / blockTokens⌋ + 1 more blocks.
    const blocksEach = Math.floor(pool.availableBlocks / scheduled.length)
    return Math.max(1, Math.min(steps, blocksEach * profile.blockTokens - 1))
  }

  /** Cuts a run of decode steps short, to end with the first step that reaches `atMs`. */
  #endStepAt(atMs: number): void {
    const step = this.#step
    if (step === undefined || step.steps === 1) return
    step.steps = stepsToReach(step.run, atMs, step.steps)
  }

  #abortRunning(sequence: Sequence, nowMs: number): void {
    const step = this.#step
    if (step !== undefined && step.steps > 1 && sequence.scheduledTokens > 0) {
      const tokens = stepsOver(step.run, nowMs, step.steps)
      sequence.record.generatedTokens += tokens
      this.#counters.generatedTokens += tokens
      // The steps that have begun took their memory before this request gives back its own.
      this.#endStepAt(nowMs)
      this.#growAll(step)
      const visible = this.profile.hitsInFlight ? step.steps : tokens
      sequence.computedTokens += visible - 1
      this.#batcher.commit(sequence)
    }
    this.#batcher.remove(sequence)
  }

  /** Takes the memory of all steps of a run; the first step's is taken already. */
  #growAll({ plan, steps }: StepInProgress): void {
    for (const sequence of plan.scheduled) {
      if (sequence.scheduledTokens === 0) continue
      const blocks = this.#batcher.missingBlocks(sequence, sequence.computedTokens + steps)
      if (blocks > 0) this.#batcher.pool.grow(sequence, blocks)
    }
  }

  #finishStep(step: StepInProgress, nowMs: number, progress: RequestProgress[]): void {
    const { plan, run, steps } = step
    this.#step = undefined
    const counters = this.#counters
    counters.steps += steps
    counters.busyMs += nowMs - run.startMs
    counters.prefillMs += prefillTimeMs(this.profile, plan.work) * this.#slowdown
    counters.computedPromptTokens += plan.work.prefillTokens
    // All take their memory before any frees its own, as in a step by itself.
    if (steps > 1) this.#growAll(step)
    for (const sequence of plan.scheduled) {
      // One that was aborted meanwhile has given back its part.
      if (sequence.scheduledTokens > 0) this.#finishSequenceStep(sequence, steps, nowMs, progress)
    }
    const { work } = plan
    this.#options.onStep?.({ startMs: run.startMs, endMs: nowMs, steps, work })
  }

  #finishSequenceStep(
    sequence: Sequence,
    steps: number,
    nowMs: number,
    progress: RequestProgress[],
  ): void {
    const { record, request } = sequence
    const batcher = this.#batcher
    const wasWhole = sequence.computedTokens + sequence.scheduledTokens
    const whole = wasWhole === record.promptTokens + record.generatedTokens
    sequence.computedTokens = wasWhole + steps - 1
    sequence.scheduledTokens = 0
    if (!whole) {
      if (this.profile.hitsInFlight) batcher.commit(sequence)
      return
    }
    batcher.commit(sequence)
    if (record.firstTokenMs === undefined) {
      record.firstTokenMs = nowMs
      this.#counters.promptTokens += record.promptTokens
      batcher.host?.write(request.chain, sequence.run.end)
    }
    record.generatedTokens += steps
    this.#counters.generatedTokens += steps
    const finished = record.generatedTokens === record.outputTokens
    if (finished) this.#finishSequence(sequence, nowMs)
    progress.push({ record, tokens: steps, atMs: nowMs, finished })
  }

  #finishSequence(sequence: Sequence, nowMs: number): void {
    sequence.record.finishedMs = nowMs
    this.#counters.finishedRequests += 1
    this.#sequences.delete(sequence.request.id)
    this.#batcher.host?.write(sequence.request.chain, sequence.run.end)
    this.#batcher.remove(sequence)
  }
}
