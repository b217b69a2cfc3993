import { type Random, randomNormal, seededRandom } from '../../base/random.ts'
import { GrowingContext } from './context.ts'
import type { Turn, Workload, WorkloadSession } from './session.ts'

/**
 * Code generation as in llm-d's TPU guide: a system prompt that all share, a long context of each
 * session's own, then turns that add a little and wait for a tool. Each length is lognormal with a
 * mean and a standard deviation, and then cut to its bounds, as the guide's load generator does it:
 * the medians are well below the means. Here every session has all its turns, and sends the next
 * when its tool has run. The guide's own runs differ in that, see `code-generation-replay`.
 */
export interface CodeGenerationOptions {
  readonly sessions: number
  readonly turns: number
  readonly sharedTokens: number
  readonly ownTokensMean: number
  readonly ownTokensStdDev: number
  readonly ownTokensMin: number
  readonly ownTokensMax: number
  readonly turnTokensMean: number
  readonly turnTokensStdDev: number
  readonly turnTokensMin: number
  readonly turnTokensMax: number
  readonly outputTokensMean: number
  readonly outputTokensStdDev: number
  readonly outputTokensMin: number
  readonly outputTokensMax: number
  readonly toolMsMean: number
  readonly toolMsStdDev: number
  readonly toolMsMin: number
  readonly toolMsMax: number
  /** The own context is shortened until the session's last prompt and answer fit into this. */
  readonly contextTokensMax: number
}

/** The guide's: guides/agentic-serving/benchmark-templates/agentic-code-gen.yaml, 20 turns each. */
export const codeGenerationDefaults: CodeGenerationOptions = {
  sessions: 40,
  turns: 20,
  sharedTokens: 3_000,
  ownTokensMean: 160_000,
  ownTokensStdDev: 233_600,
  ownTokensMin: 10_000,
  ownTokensMax: 990_000,
  turnTokensMean: 1_500,
  turnTokensStdDev: 1_200,
  turnTokensMin: 100,
  turnTokensMax: 10_000,
  outputTokensMean: 425,
  outputTokensStdDev: 825,
  outputTokensMin: 50,
  outputTokensMax: 10_000,
  toolMsMean: 15_000,
  toolMsStdDev: 55_000,
  toolMsMin: 1_000,
  toolMsMax: 100_000,
  contextTokensMax: 262_144,
}

export function codeGeneration(options: CodeGenerationOptions, seed: number): Workload {
  const random = seededRandom(seed)
  const shared = new GrowingContext(random, options.sharedTokens)
  shared.append(options.sharedTokens)
  const sessions: WorkloadSession[] = []
  for (let i = 0; i < options.sessions; i++) sessions.push(session(options, shared, random, i))
  return { name: `code-generation-${options.sessions}`, sessions }
}

interface TurnSize {
  readonly turnTokens: number
  readonly outputTokens: number
  readonly gapMs: number
}

function session(
  options: CodeGenerationOptions,
  shared: GrowingContext,
  random: Random,
  index: number,
): WorkloadSession {
  const drawn = ownTokens(options, random)
  const sizes = Array.from({ length: options.turns }, (_, t) => turnSize(options, random, t === 0))
  const growth = sizes.reduce((sum, one) => sum + one.turnTokens + one.outputTokens, 0)
  const room = options.contextTokensMax - options.sharedTokens - growth
  const own = Math.max(0, Math.min(drawn, room))
  const context = GrowingContext.after(shared, random, own + growth)
  context.append(own)
  const turns = sizes.map(({ turnTokens, outputTokens, gapMs }): Turn => {
    context.append(turnTokens)
    const promptTokens = context.tokens
    context.append(outputTokens)
    return { gapMs, promptTokens, outputTokens, chain: context.chain() }
  })
  return {
    id: `session-${index}`,
    startMs: 0,
    tenant: 'default',
    priorityClass: 'standard',
    turns,
  }
}

function ownTokens(options: CodeGenerationOptions, random: Random): number {
  const { ownTokensMean, ownTokensStdDev, ownTokensMin, ownTokensMax } = options
  const drawn = lognormal(ownTokensMean, ownTokensStdDev, random)
  return Math.round(within(drawn, ownTokensMin, ownTokensMax))
}

function turnSize(options: CodeGenerationOptions, random: Random, first: boolean): TurnSize {
  const turn = lognormal(options.turnTokensMean, options.turnTokensStdDev, random)
  const output = lognormal(options.outputTokensMean, options.outputTokensStdDev, random)
  const tool = lognormal(options.toolMsMean, options.toolMsStdDev, random)
  return {
    turnTokens: Math.round(within(turn, options.turnTokensMin, options.turnTokensMax)),
    outputTokens: Math.round(within(output, options.outputTokensMin, options.outputTokensMax)),
    gapMs: first ? 0 : within(tool, options.toolMsMin, options.toolMsMax),
  }
}

/** Lognormal by its own mean and standard deviation, not those of its logarithm. */
function lognormal(mean: number, stdDev: number, random: Random): number {
  const variance = Math.log(1 + (stdDev / mean) ** 2)
  return Math.exp(Math.log(mean) - variance / 2 + Math.sqrt(variance) * randomNormal(random))
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
