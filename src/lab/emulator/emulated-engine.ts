import { seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import { EngineLoop } from '../engine/engine-loop.ts'
import { EngineModel } from '../engine/engine-model.ts'
import type { RequestProgress } from '../engine/engine-report.ts'
import type { EngineProfile } from '../engine/profile.ts'
import type { RequestRecord } from '../engine/request.ts'
import type { FinishReason } from './answer-format.ts'
import { answerTokens, naturalLength } from './answer-text.ts'
import { EngineHistograms } from './engine-histograms.ts'
import { chainOfBytes, textHash, tokenCount } from './pseudo-tokens.ts'

/** How long an answer may and must be. */
export interface AnswerLimits {
  readonly maxTokens: number
  readonly minTokens: number
  readonly ignoreEos: boolean
}

/** An answer on its way. `onToken` is called for each token, in order. */
export interface Generation {
  readonly promptTokens: number
  /** Text of each token; known beforehand, shown one by one. */
  readonly tokens: readonly string[]
  readonly finishReason: FinishReason
  readonly record: RequestRecord
  abort(): void
}

export interface EmulatedEngineOptions {
  readonly seed: number
  /** Mean length of an answer that nothing limits. */
  readonly answerTokensMean: number
}

/** The engine model with texts: prompts become block chains, and answers get words. */
export class EmulatedEngine {
  readonly model: EngineModel
  readonly histograms = new EngineHistograms()
  readonly #loop: EngineLoop
  readonly #scheduler: Scheduler
  readonly #options: EmulatedEngineOptions
  readonly #listeners = new Map<number, (progress: RequestProgress) => void>()
  #nextId = 0

  constructor(profile: EngineProfile, scheduler: Scheduler, options: EmulatedEngineOptions) {
    this.#scheduler = scheduler
    this.#options = options
    this.model = new EngineModel(profile, {
      onStep: (sample) => this.histograms.addStep(sample),
    })
    this.#loop = new EngineLoop(this.model, scheduler, (progress) => this.#progress(progress))
  }

  nowMs(): number {
    return this.#scheduler.nowMs()
  }

  /** Generates an answer to a prompt; `variant` tells the answers to one prompt apart. */
  generate(
    prompt: Buffer,
    limits: AnswerLimits,
    variant: number,
    onToken: (index: number) => void,
  ): Generation {
    const seed = (textHash(prompt) ^ Math.imul(this.#options.seed, 0x9e3779b1)) + variant
    const { count, finishReason } = this.#answerLength(seed, limits)
    const tokens = answerTokens(seed, count)
    const promptTokens = tokenCount(prompt.length)
    // The answer follows the last byte of the prompt, which need not end a token.
    const text = Buffer.concat([prompt, Buffer.from(tokens.join(''))])
    const chain = chainOfBytes(text, this.model.profile.blockTokens)
    const id = this.#nextId++
    this.#listeners.set(id, ({ record, tokens: fresh }) => {
      for (let i = record.generatedTokens - fresh; i < record.generatedTokens; i++) onToken(i)
    })
    const request = { id, chain, promptTokens, outputTokens: count }
    const record = this.#loop.submit(request)
    this.histograms.addRequest(limits.maxTokens)
    const abort = (): void => {
      this.#listeners.delete(id)
      this.#loop.abort(id)
      this.histograms.forget(id)
    }
    return { promptTokens, tokens, finishReason, record, abort }
  }

  set slowdown(factor: number) {
    this.model.slowdown = factor
  }

  /** The process dies: no token comes any more. */
  stop(): void {
    this.#loop.stop()
    this.#listeners.clear()
  }

  #answerLength(seed: number, limits: AnswerLimits): { count: number; finishReason: FinishReason } {
    const { maxTokens, minTokens, ignoreEos } = limits
    if (ignoreEos) return { count: maxTokens, finishReason: 'length' }
    const natural = naturalLength(seededRandom(seed ^ 0x5bd1e995), this.#options.answerTokensMean)
    const wanted = Math.max(1, minTokens, natural)
    if (wanted > maxTokens) return { count: maxTokens, finishReason: 'length' }
    return { count: wanted, finishReason: 'stop' }
  }

  #progress(progress: RequestProgress): void {
    const id = progress.record.id as number
    this.histograms.addProgress(progress)
    const listener = this.#listeners.get(id)
    if (progress.finished) this.#listeners.delete(id)
    listener?.(progress)
  }
}
