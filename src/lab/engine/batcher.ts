import type { HostCache } from './host-cache.ts'
import type { KvPool } from './kv-pool.ts'
import type { EngineProfile } from './profile.ts'
import { isDecoding, type Sequence, targetTokens } from './request.ts'
import type { PrefixMatch } from './run-tree.ts'
import type { StepWork } from './step-time.ts'
import { WaitingQueue } from './waiting-queue.ts'

/** What the next step computes. */
export interface StepPlan {
  readonly work: StepWork
  /** The sequences that take part, each with its `scheduledTokens`. */
  readonly scheduled: readonly Sequence[]
  /** Whether room was made by preemption, so that nobody was admitted. */
  readonly preempted: boolean
}

/** Counts over the life of the engine; tokens unless the name says otherwise. */
export interface CacheCounters {
  /** Prompt tokens of the requests that were looked up in the prefix cache. */
  prefixQueryTokens: number
  prefixHitTokens: number
  hostQueryTokens: number
  hostHitTokens: number
  preemptions: number
}

/**
 * Continuous batching with chunked prefill: in each step first every decode, then the prefills in
 * progress, then new requests in the order of their arrival, while the token budget, the number of
 * sequences and the KV memory allow. The order is vLLM's, but that a decode never loses its turn to
 * the prefill of an older request.
 */
export class Batcher {
  readonly profile: EngineProfile
  readonly pool: KvPool
  readonly host: HostCache | undefined
  readonly waiting = new WaitingQueue()
  /** In the order of admission; the last is the one to preempt. */
  readonly running: Sequence[] = []
  readonly counters: CacheCounters = {
    prefixQueryTokens: 0,
    prefixHitTokens: 0,
    hostQueryTokens: 0,
    hostHitTokens: 0,
    preemptions: 0,
  }
  #budget = 0
  #preempted = false
  /** When the link to the host memory is free again. */
  #linkFreeMs = 0

  constructor(profile: EngineProfile, pool: KvPool, host: HostCache | undefined) {
    this.profile = profile
    this.pool = pool
    this.host = host
  }

  /** Plans a step that starts at `nowMs`, and takes the memory that it needs. */
  schedule(nowMs: number): StepPlan {
    this.#budget = this.profile.batchTokensMax
    this.#preempted = false
    this.#scheduleRunning(nowMs, true)
    this.#scheduleRunning(nowMs, false)
    if (this.profile.hitsInFlight) this.#commitScheduled()
    if (!this.#preempted) while (this.#admit(nowMs)) {}
    const scheduled = this.running.filter((sequence) => sequence.scheduledTokens > 0)
    return { work: this.#workOf(scheduled), scheduled, preempted: this.#preempted }
  }

  /** Makes the blocks that are full (or will be after this step) visible to others. */
  commit(sequence: Sequence): void {
    const tokens = sequence.computedTokens + sequence.scheduledTokens
    const blocks = Math.floor(tokens / this.profile.blockTokens)
    const { chain } = sequence.request
    this.pool.commit(sequence, chain, Math.min(blocks, chain.length))
  }

  /** Blocks missing for a sequence to hold `tokens`. */
  missingBlocks(sequence: Sequence, tokens: number): number {
    const held = sequence.run.end + sequence.privateBlocks
    return Math.ceil(tokens / this.profile.blockTokens) - held
  }

  /** When the next context arrives from host memory, after `nowMs`. */
  nextLoadedMs(nowMs: number): number | undefined {
    let next: number | undefined
    for (const { loadedMs } of this.running) {
      if (loadedMs > nowMs && (next === undefined || loadedMs < next)) next = loadedMs
    }
    return next
  }

  /** A running sequence ends, finished or aborted. */
  remove(sequence: Sequence): void {
    this.running.splice(this.running.indexOf(sequence), 1)
    this.pool.release(sequence)
    sequence.scheduledTokens = 0
    sequence.state = 'over'
  }

  /** What is still on its way from host memory is not scheduled, and nobody can hit it yet. */
  #commitScheduled(): void {
    for (const sequence of this.running) {
      if (sequence.scheduledTokens > 0) this.commit(sequence)
    }
  }

  #scheduleRunning(nowMs: number, decodes: boolean): void {
    for (let i = 0; i < this.running.length; i++) {
      const sequence = this.running[i]
      if (sequence.loadedMs > nowMs || isDecoding(sequence) !== decodes) continue
      const missing = targetTokens(sequence) - sequence.computedTokens
      this.#scheduleOne(sequence, Math.min(missing, this.#budget))
    }
  }

  /** Makes room by preempting the newest sequence, which may be the one that asks. */
  #scheduleOne(sequence: Sequence, tokens: number): void {
    if (tokens <= 0) return
    const blocks = this.missingBlocks(sequence, sequence.computedTokens + tokens)
    while (blocks > this.pool.availableBlocks) {
      const victim = this.running[this.running.length - 1]
      this.#preempt(victim)
      if (victim === sequence) return
    }
    if (blocks > 0) this.pool.grow(sequence, blocks)
    sequence.scheduledTokens = tokens
    this.#budget -= tokens
  }

  #preempt(victim: Sequence): void {
    this.#budget += victim.scheduledTokens
    this.remove(victim)
    victim.computedTokens = 0
    victim.loadedMs = 0
    victim.record.preemptions += 1
    this.counters.preemptions += 1
    this.#preempted = true
    this.waiting.pushFront(victim)
  }

  /** Admits the first waiting request; false where there is none or it does not fit. */
  #admit(nowMs: number): boolean {
    const sequence = this.waiting.peek()
    if (sequence === undefined || this.#budget === 0) return false
    if (this.running.length >= this.profile.runningMax) return false
    const { blockTokens } = this.profile
    // At least one token is computed, because the next one is sampled from its output.
    const target = targetTokens(sequence)
    const blocksMax = Math.floor((target - 1) / blockTokens)
    const { chain } = sequence.request
    const match = this.pool.match(chain, blocksMax)
    const hostBlocks = Math.max(0, (this.host?.matchBlocks(chain, blocksMax) ?? 0) - match.blocks)
    if (!this.#fits(target, match, hostBlocks)) return false
    const cachedTokens = (match.blocks + hostBlocks) * blockTokens
    const tokens = hostBlocks > 0 ? 0 : Math.min(target - cachedTokens, this.#budget)

    this.waiting.shift()
    this.running.push(sequence)
    sequence.state = 'running'
    sequence.run = this.pool.acquire(match)
    sequence.computedTokens = cachedTokens
    sequence.scheduledTokens = tokens
    this.pool.grow(sequence, this.missingBlocks(sequence, cachedTokens + tokens))
    this.#budget -= tokens
    if (hostBlocks > 0) sequence.loadedMs = this.#load(hostBlocks, nowMs)
    else if (this.profile.hitsInFlight) this.commit(sequence)
    this.#count(sequence, match, hostBlocks, nowMs)
    return true
  }

  /**
   * Whether a request may be admitted: its whole context must fit, though only its first chunk
   * takes memory now. One that is loaded from host memory makes no progress meanwhile and so must
   * leave room for the prefills that do (vLLM 0.32's scheduler_reserve_full_isl and
   * _inflight_prefill_reserved_blocks).
   */
  #fits(target: number, match: PrefixMatch, hostBlocks: number): boolean {
    const available = this.pool.availableBlocks - match.idleBlocks
    const whole = Math.ceil(target / this.profile.blockTokens) - match.blocks
    if (whole > available) return false
    return hostBlocks === 0 || hostBlocks <= available - this.#prefillsToCome()
  }

  /** Blocks that the prefills in progress have yet to take. */
  #prefillsToCome(): number {
    let blocks = 0
    for (const sequence of this.running) {
      if (isDecoding(sequence)) continue
      blocks += Math.max(0, this.missingBlocks(sequence, targetTokens(sequence)))
    }
    return blocks
  }

  /** Books the link to the host memory; returns when the blocks have arrived. */
  #load(blocks: number, nowMs: number): number {
    const tokens = blocks * this.profile.blockTokens
    const startMs = Math.max(nowMs, this.#linkFreeMs)
    this.#linkFreeMs = startMs + tokens * this.profile.hostReloadMsPerToken
    return this.#linkFreeMs
  }

  /** Records the first admission; a return after preemption is no new query. */
  #count(sequence: Sequence, match: PrefixMatch, hostBlocks: number, nowMs: number): void {
    const { record } = sequence
    if (record.startedMs !== undefined) return
    const { blockTokens } = this.profile
    record.startedMs = nowMs
    record.cachedGpuTokens = match.blocks * blockTokens
    record.cachedHostTokens = hostBlocks * blockTokens
    const { counters } = this
    counters.prefixQueryTokens += record.promptTokens
    counters.prefixHitTokens += record.cachedGpuTokens
    if (this.host === undefined) return
    counters.hostQueryTokens += record.promptTokens - record.cachedGpuTokens
    counters.hostHitTokens += record.cachedHostTokens
  }

  #workOf(scheduled: readonly Sequence[]): StepWork {
    const work: StepWork = {
      prefillTokens: 0,
      prefillPairs: 0,
      prefilling: 0,
      decodes: 0,
      contextTokens: 0,
      residentTokens: this.pool.heldBlocks * this.profile.blockTokens,
    }
    for (const sequence of scheduled) {
      const tokens = sequence.scheduledTokens
      if (isDecoding(sequence)) {
        work.decodes += 1
        work.contextTokens += sequence.computedTokens + 1
      } else {
        work.prefilling += 1
        work.prefillTokens += tokens
        work.prefillPairs += tokens * (sequence.computedTokens + tokens / 2)
      }
    }
    for (const sequence of this.running) {
      const tokens = sequence.computedTokens + sequence.scheduledTokens
      work.residentTokens += tokens - sequence.run.end * this.profile.blockTokens
    }
    return work
  }
}
