import { type Random, randomNormal, seededRandom } from '../../base/random.ts'
import { GrowingContext } from './context.ts'
import type { Turn, Workload, WorkloadSession } from './session.ts'

/**
 * Code generation as in llm-d's TPU guide (evaluation.md 1.1): a system prompt that all share, a
 * long context of each session's own, then turns that add a little and wait for a tool.
 */
export interface CodeGenerationOptions {
  readonly sessions: number
  readonly turns: number
  readonly sharedTokens: number
  /** Own context, lognormal with this mean, within the bounds. */
  readonly ownTokensMean: number
  readonly ownTokensMin: number
  readonly ownTokensMax: number
  readonly ownSigma: number
  readonly turnTokens: number
  readonly outputTokens: number
  /** Tool time, exponential with this mean, within the bounds. */
  readonly toolMsMean: number
  readonly toolMsMin: number
  readonly toolMsMax: number
}

export const codeGenerationDefaults: CodeGenerationOptions = {
  sessions: 40,
  turns: 20,
  sharedTokens: 3_000,
  ownTokensMean: 160_000,
  ownTokensMin: 10_000,
  ownTokensMax: 990_000,
  ownSigma: 0.5,
  turnTokens: 1_500,
  outputTokens: 425,
  toolMsMean: 15_000,
  toolMsMin: 1_000,
  toolMsMax: 100_000,
}

export function codeGeneration(options: CodeGenerationOptions, seed: number): Workload {
  const random = seededRandom(seed)
  const shared = new GrowingContext(random, options.sharedTokens)
  shared.append(options.sharedTokens)
  const sessions: WorkloadSession[] = []
  for (let i = 0; i < options.sessions; i++) sessions.push(session(options, shared, random, i))
  return { name: `code-generation-${options.sessions}`, sessions }
}

function session(
  options: CodeGenerationOptions,
  shared: GrowingContext,
  random: Random,
  index: number,
): WorkloadSession {
  const ownTokens = lognormal(options, random)
  const growth = options.turns * (options.turnTokens + options.outputTokens)
  const context = GrowingContext.after(shared, random, ownTokens + growth)
  context.append(ownTokens)
  const turns: Turn[] = []
  for (let t = 0; t < options.turns; t++) {
    context.append(options.turnTokens)
    const promptTokens = context.tokens
    context.append(options.outputTokens)
    turns.push({
      gapMs: t === 0 ? 0 : toolMs(options, random),
      promptTokens,
      outputTokens: options.outputTokens,
      chain: context.chain(),
    })
  }
  return {
    id: `session-${index}`,
    startMs: 0,
    tenant: 'default',
    priorityClass: 'standard',
    turns,
  }
}

function lognormal(options: CodeGenerationOptions, random: Random): number {
  const { ownTokensMean, ownTokensMin, ownTokensMax, ownSigma } = options
  const mu = Math.log(ownTokensMean) - ownSigma ** 2 / 2
  const drawn = Math.exp(mu + ownSigma * randomNormal(random))
  return Math.round(Math.min(ownTokensMax, Math.max(ownTokensMin, drawn)))
}

function toolMs(options: CodeGenerationOptions, random: Random): number {
  const drawn = -options.toolMsMean * Math.log(1 - random.next())
  return Math.min(options.toolMsMax, Math.max(options.toolMsMin, drawn))
}
