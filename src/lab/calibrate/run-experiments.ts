/** Carries out the experiments, round after round, and keeps to the time it was given. */
import type { Clock } from '../../base/scheduler.ts'
import { batchTokensOf, chunkSteps } from './chunk-steps.ts'
import type { CallSample, EngineUnderTest } from './engine-under-test.ts'
import {
  answerTokens,
  type DecodeExperiment,
  type Experiment,
  extensionShare,
  type InterleaveExperiment,
  labelOf,
  longestAnswer,
  ownTokens,
  type PrefillExperiment,
  shortContextTokens,
} from './experiment-plan.ts'
import type { Observation } from './observation.ts'
import { tokenPace, tokensApart } from './token-pace.ts'
import type { UniqueText } from './unique-text.ts'

export interface RunOptions {
  readonly engine: EngineUnderTest
  readonly experiments: readonly Experiment[]
  readonly text: UniqueText
  readonly clock: Clock
  readonly roundsMax: number
  /** No round is begun that would not be over by then, on the clock. */
  readonly untilMs: number
  /** Prompts that would take longer to their first token are left out. */
  readonly firstTokenMsMax: number
  /** Unit of prefix matches, for engines that do not say how much they found cached. */
  readonly blockTokens: number
  readonly beforeRound?: (round: number) => Promise<void>
  readonly onExperiment?: (label: string, round: number) => void
}

export interface RunResult {
  readonly observations: readonly Observation[]
  readonly rounds: number
  readonly calls: number
  readonly promptTokens: number
  readonly outputTokens: number
  /** Tokens of the longest prompt that was sent. */
  readonly longestPrompt: number
  /** Tokens that a step computes at most; null where that could not be seen. */
  readonly batchTokensMax: number | null
  /** Experiments that would have taken too long. */
  readonly skipped: readonly string[]
  /** Cached tokens as answers told them; empty where they do not. */
  readonly cachedTold: readonly number[]
}

/** Of the prompts of one experiment together, as times of what a single one may take. */
const together = 3
/** Answers that shall overlap are longer than what is expected to be needed. */
const overlapTimes = 1.5

export async function runExperiments(options: RunOptions): Promise<RunResult> {
  const run = new ExperimentRun(options)
  let longestMs = 0
  let rounds = 0
  while (rounds < options.roundsMax) {
    const startMs = options.clock.nowMs()
    if (rounds > 0 && startMs + longestMs > options.untilMs) break
    await options.beforeRound?.(rounds + 1)
    await run.round(rounds + 1)
    rounds += 1
    longestMs = Math.max(longestMs, options.clock.nowMs() - startMs)
  }
  return { ...run.result(), rounds }
}

class ExperimentRun {
  readonly #options: RunOptions
  readonly #observations: Observation[] = []
  readonly #skipped = new Set<Experiment>()
  /** New prompts and their times to the first token, of the two sizes measured last. */
  #timed: readonly { readonly tokens: number; readonly ms: number }[] = []
  readonly #cachedTold: number[] = []
  /** Of the experiments that need longer answers than others. */
  readonly #answerTokens = new Map<Experiment, number>()
  /** Budgets of a step, one for each round in which it could be seen. */
  readonly #budgets: number[] = []
  #calls = 0
  #promptTokens = 0
  #outputTokens = 0
  #longestPrompt = 0

  constructor(options: RunOptions) {
    this.#options = options
  }

  async round(round: number): Promise<void> {
    for (const experiment of this.#options.experiments) {
      if (this.#skipped.has(experiment) || this.#takesTooLong(experiment)) {
        this.#skipped.add(experiment)
        continue
      }
      this.#options.onExperiment?.(labelOf(experiment), round)
      if (experiment.kind === 'prefill') await this.#prefill(experiment)
      else if (experiment.kind === 'interleave') await this.#interleave(experiment)
      else await this.#decode(experiment)
    }
  }

  result(): Omit<RunResult, 'rounds'> {
    return {
      observations: this.#observations,
      calls: this.#calls,
      promptTokens: this.#promptTokens,
      outputTokens: this.#outputTokens,
      longestPrompt: this.#longestPrompt,
      batchTokensMax: this.#budgets.sort((a, b) => a - b)[(this.#budgets.length - 1) >> 1] ?? null,
      skipped: [...this.#skipped].map(labelOf),
      cachedTold: this.#cachedTold,
    }
  }

  async #prefill(experiment: PrefillExperiment): Promise<void> {
    const { promptTokens } = experiment
    const { text } = this.#options
    const prompt = text.next(promptTokens)
    const fresh = await this.#call(prompt, answerTokens.prefill)
    text.counted(prompt, fresh.promptTokens)
    this.#firstToken('new', experiment, fresh, 0)
    this.#pace(labelOf(experiment), [fresh], fresh.promptTokens)
    const again = await this.#call(prompt, answerTokens.prefill)
    this.#firstToken('repeated', experiment, again, fresh.promptTokens)
    this.#pace(labelOf(experiment), [again], again.promptTokens)
    const longer = `${prompt} ${text.next(promptTokens * extensionShare)}`
    const extended = await this.#call(longer, answerTokens.extended)
    this.#firstToken('extended', experiment, extended, fresh.promptTokens)
    this.#timed = [...this.#timed.slice(-1), { tokens: fresh.promptTokens, ms: fresh.outputMs[0] }]
  }

  /** By the growth that was seen, which is faster than linear. */
  #takesTooLong(experiment: Experiment): boolean {
    const [before, last] = this.#timed
    const { promptTokens } = experiment
    if (last === undefined) return false
    const perToken = (last.ms - before.ms) / (last.tokens - before.tokens)
    const beyond = perToken * (promptTokens - last.tokens) * (promptTokens / last.tokens)
    const oneMs = promptTokens > last.tokens ? last.ms + beyond : last.ms
    const { firstTokenMsMax } = this.#options
    if (experiment.kind !== 'decode') return oneMs > firstTokenMsMax
    const share = Math.min(1, promptTokens / last.tokens)
    return (
      oneMs * share * (experiment.shared ? 1 : experiment.sequences) > together * firstTokenMsMax
    )
  }

  async #decode(experiment: DecodeExperiment): Promise<void> {
    const { sequences, promptTokens, shared } = experiment
    const { text } = this.#options
    const head = shared ? `${text.next(promptTokens - ownTokens)} ` : ''
    const prompts = Array.from(
      { length: sequences },
      () => head + text.next(shared ? ownTokens : promptTokens),
    )
    const before: CallSample[] = []
    for (const prompt of prompts) before.push(await this.#call(prompt, 1))
    const tokens = this.#answerTokens.get(experiment) ?? answerTokens.decode
    const samples = await Promise.all(prompts.map((prompt) => this.#call(prompt, tokens)))
    const own = samples.reduce((sum, sample) => sum + sample.promptTokens, 0)
    const sharedTokens = before[1]?.cachedTokens ?? promptTokens - ownTokens
    const resident = shared ? own - (sequences - 1) * sharedTokens : own
    const paced = this.#pace(labelOf(experiment), samples, resident)
    if (paced || this.#answerTokens.has(experiment)) return
    // They began so far apart that the first was over before the last one's turn.
    const longer = tokens + overlapTimes * tokensApart(samples)
    this.#answerTokens.set(experiment, this.#atMost(longer))
    await this.#decode(experiment)
  }

  async #interleave({ promptTokens }: InterleaveExperiment): Promise<void> {
    const { text } = this.#options
    const short = text.next(shortContextTokens)
    await this.#call(short, 1)
    const [stream, long] = await Promise.all([
      this.#call(short, this.#interleavedTokens()),
      this.#call(text.next(promptTokens), 1),
    ])
    const steps = chunkSteps(stream, long, this.#cachedLongMs())
    const budget = steps === null ? null : batchTokensOf(long.promptTokens, steps)
    if (budget !== null) this.#budgets.push(budget)
  }

  /** Time to the first token of the longest prompt that was sent again. */
  #cachedLongMs(): number {
    return this.#observations.findLast(({ kind }) => kind === 'repeated')?.ms ?? 0
  }

  /** The answer must outlast the reading of the prompt. */
  #interleavedTokens(): number {
    const paceMs = this.#observations.find(({ kind }) => kind === 'decode')?.ms
    if (paceMs === undefined) return answerTokens.interleave
    return this.#atMost(answerTokens.interleave + (overlapTimes * this.#cachedLongMs()) / paceMs)
  }

  /** Short prompts with answers of half the longest prompt's length stay within the context. */
  #atMost(tokens: number): number {
    const longest = Math.max(...this.#options.experiments.map(({ promptTokens }) => promptTokens))
    return Math.ceil(Math.min(tokens, longestAnswer, longest / 2))
  }

  /**
   * @param residentTokens distinct tokens of the prompts
   * @returns whether the answers were under way together for long enough
   */
  #pace(experiment: string, samples: readonly CallSample[], residentTokens: number): boolean {
    const pace = tokenPace(samples)
    if (pace === null) return false
    const { ms, answeredTokens } = pace
    const promptTokens = samples.reduce((sum, sample) => sum + sample.promptTokens, 0)
    this.#observations.push({
      kind: 'decode',
      experiment,
      ms,
      sequences: samples.length,
      contextTokens: promptTokens + answeredTokens,
      residentTokens: residentTokens + answeredTokens,
    })
    return true
  }

  /** @param knownTokens tokens that its prompt has in common with an earlier one */
  #firstToken(
    kind: 'new' | 'repeated' | 'extended',
    experiment: Experiment,
    sample: CallSample,
    knownTokens: number,
  ): void {
    const { promptTokens, outputMs } = sample
    const { blockTokens } = this.#options
    // At least one token is computed: the next one is sampled from its output.
    const blocks = Math.floor(Math.min(knownTokens, promptTokens - 1) / blockTokens)
    const cachedTokens = sample.cachedTokens ?? Math.max(0, blocks) * blockTokens
    const label = labelOf(experiment)
    const ms = outputMs[0]
    this.#observations.push({ kind, experiment: label, ms, promptTokens, cachedTokens })
  }

  async #call(prompt: string, outputTokens: number): Promise<CallSample> {
    const sample = await this.#options.engine.call({ prompt, outputTokens })
    this.#calls += 1
    this.#promptTokens += sample.promptTokens
    this.#outputTokens += sample.outputTokens
    this.#longestPrompt = Math.max(this.#longestPrompt, sample.promptTokens)
    if (sample.cachedTokens !== null) this.#cachedTold.push(sample.cachedTokens)
    return sample
  }
}
