/** What a calibration sends to an engine, decided before it sends anything. Pure. */

/** One prompt, new, sent again, and longer by a new part; one call after the other. */
export interface PrefillExperiment {
  readonly kind: 'prefill'
  readonly promptTokens: number
}

/** Answers generated at once, to prompts that are cached by then. */
export interface DecodeExperiment {
  readonly kind: 'decode'
  readonly sequences: number
  /** Tokens of one prompt. */
  readonly promptTokens: number
  /** Whether the prompts share all but their last tokens. */
  readonly shared: boolean
}

/** A long new prompt while another request's answer is under way. */
export interface InterleaveExperiment {
  readonly kind: 'interleave'
  readonly promptTokens: number
}

export type Experiment = PrefillExperiment | DecodeExperiment | InterleaveExperiment

export interface PlanLimits {
  /** Longest prompt plus answer; null where the engine does not say. */
  readonly contextTokensMax: number | null
  readonly kvTokens: number | null
  readonly runningMax: number | null
  /** Requests at once, at most. */
  readonly atOnceMax: number
  /** Longest prompt that may be sent. */
  readonly promptTokensMax: number
}

/** Tokens of the answers from which the time between two tokens is measured. */
export const answerTokens = { prefill: 32, extended: 2, decode: 48, interleave: 128 } as const
/** Where reading the prompts takes long, answers that are to overlap must be longer. */
export const longestAnswer = 1_024
/** What a longer prompt adds, as a share of what was there before. */
export const extensionShare = 0.5
/** The part of prompts with a shared head that is each one's own. */
export const ownTokens = 64

const shortestTokens = 96
export const shortContextTokens = 256
/** From one size to the next. */
const sizeRatio = 4
/** Engines that do not say what they take are asked for no more. */
const contextTokensUnknown = 8_192
/** A calibration never uses more of the KV memory at once. */
const kvShareMax = 0.5

/** The experiments of one round, the small ones first. Throws a RangeError where nothing fits. */
export function planExperiments(limits: PlanLimits): Experiment[] {
  const longest = longestPrompt(limits)
  if (longest < shortContextTokens) {
    throw new RangeError(
      `the longest prompt would have ${longest} tokens; at least ${shortContextTokens} are needed`,
    )
  }
  const prefills = prefillSizes(longest).map((promptTokens) => prefill(promptTokens))
  const atOnce = Math.min(limits.atOnceMax, limits.runningMax ?? limits.atOnceMax)
  const batches = powersOfTwo(atOnce).map((n) => decode(n, shortContextTokens))
  const memory = (limits.kvTokens ?? longest * 4) * kvShareMax
  const fitting = (n: number, share: number): number =>
    Math.floor(Math.min(longest * share, memory / n))
  const several = Math.max(2, Math.ceil(atOnce / 4))
  if (atOnce < 2) return [...prefills, ...batches]
  return [
    ...prefills,
    ...batches,
    decode(several, fitting(several, 0.5)),
    decode(atOnce, fitting(atOnce, 0.25)),
    // Shared contexts tell reading memory from working on contexts.
    decode(atOnce, fitting(2, 0.5), true),
    { kind: 'interleave', promptTokens: longest } as const,
  ].filter(({ promptTokens }) => promptTokens >= shortestTokens)
}

function longestPrompt(limits: PlanLimits): number {
  const { contextTokensMax, kvTokens, promptTokensMax } = limits
  // The longest prompt is extended, and answered.
  const context = (contextTokensMax ?? contextTokensUnknown) - answerTokens.decode
  const memory = (kvTokens ?? Number.POSITIVE_INFINITY) * kvShareMax
  // How many tokens a text has is not known exactly beforehand.
  const estimate = 0.9
  return Math.floor(
    Math.min(promptTokensMax, (estimate * Math.min(context, memory)) / (1 + extensionShare)),
  )
}

function prefillSizes(longest: number): number[] {
  const sizes: number[] = []
  for (let size = longest; size > shortestTokens * 1.5; size /= sizeRatio) sizes.unshift(size)
  return [shortestTokens, ...sizes.map(Math.round)]
}

function powersOfTwo(last: number): number[] {
  const powers: number[] = []
  for (let n = 1; n < last; n *= 2) powers.push(n)
  return [...powers, last]
}

const prefill = (promptTokens: number): PrefillExperiment => ({ kind: 'prefill', promptTokens })
const decode = (sequences: number, promptTokens: number, shared = false): DecodeExperiment => ({
  kind: 'decode',
  sequences,
  promptTokens,
  shared,
})

/** What one round asks of the engine. */
export interface RoundLoad {
  readonly calls: number
  readonly promptTokens: number
  /** Of them, what the engine must compute, if its prefix cache works. */
  readonly newTokens: number
  readonly outputTokens: number
  readonly atOnce: number
  readonly longestPrompt: number
}

export function loadOf(experiments: readonly Experiment[]): RoundLoad {
  const load = { calls: 0, promptTokens: 0, newTokens: 0, outputTokens: 0 }
  for (const one of experiments) {
    const { promptTokens } = one
    if (one.kind === 'prefill') {
      const extension = Math.round(promptTokens * extensionShare)
      load.calls += 3
      load.promptTokens += 3 * promptTokens + extension
      load.newTokens += promptTokens + extension
      load.outputTokens += 2 * answerTokens.prefill + answerTokens.extended
    } else if (one.kind === 'interleave') {
      load.calls += 3
      load.promptTokens += promptTokens + 2 * shortContextTokens
      load.newTokens += promptTokens + shortContextTokens
      load.outputTokens += 2 + answerTokens.interleave
    } else {
      const { sequences, shared } = one
      load.calls += 2 * sequences
      load.promptTokens += 2 * sequences * promptTokens
      load.newTokens += shared ? promptTokens + sequences * ownTokens : sequences * promptTokens
      load.outputTokens += sequences * (1 + answerTokens.decode)
    }
  }
  return {
    ...load,
    atOnce: Math.max(...experiments.map(requestsAtOnce)),
    longestPrompt: Math.max(
      ...experiments.map(({ kind, promptTokens }) =>
        kind === 'prefill' ? Math.round(promptTokens * (1 + extensionShare)) : promptTokens,
      ),
    ),
  }
}

function requestsAtOnce(experiment: Experiment): number {
  if (experiment.kind === 'decode') return experiment.sequences
  return experiment.kind === 'interleave' ? 2 : 1
}

/** How an experiment is called in progress lines and fit errors. */
export function labelOf(experiment: Experiment): string {
  const tokens = experiment.promptTokens.toLocaleString('en-US')
  if (experiment.kind === 'prefill') return `prompt of ${tokens}`
  if (experiment.kind === 'interleave') return `prompt of ${tokens} beside an answer`
  const { sequences, shared } = experiment
  return `${sequences} at once on ${tokens}${shared ? ' shared' : ''}`
}
