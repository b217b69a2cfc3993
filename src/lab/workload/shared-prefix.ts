import { type Random, randomExponential, randomInt, seededRandom } from '../../base/random.ts'
import { GrowingContext } from './context.ts'
import type { Workload, WorkloadSession } from './session.ts'

/** Requests at one rate, for one length of time. */
export interface RateStage {
  readonly perSecond: number
  readonly seconds: number
}

/**
 * The shared-prefix ladder of llm-d's published benchmark (inference-perf's `shared_prefix` under
 * `load.type: poisson`): groups that share a system prompt, a few users in each with a question of
 * their own. The prompts are shuffled once, and each stage sends them in that order, from the first
 * one on and around again; it has its rate times its seconds of requests.
 */
export interface SharedPrefixOptions {
  readonly groups: number
  readonly usersPerGroup: number
  readonly prefixTokens: number
  readonly questionTokens: number
  readonly outputTokens: number
  readonly stages: readonly RateStage[]
}

export const sharedPrefixDefaults: Omit<SharedPrefixOptions, 'stages'> = {
  groups: 150,
  usersPerGroup: 5,
  prefixTokens: 6_000,
  questionTokens: 1_200,
  outputTokens: 1_000,
}

export function sharedPrefix(options: SharedPrefixOptions, seed: number): Workload {
  const random = seededRandom(seed)
  const prefixes = Array.from({ length: options.groups }, () => {
    const prefix = new GrowingContext(random, options.prefixTokens)
    prefix.append(options.prefixTokens)
    return prefix
  })
  const contexts = prefixes.flatMap((prefix) =>
    Array.from({ length: options.usersPerGroup }, () => {
      const tokens = options.questionTokens + options.outputTokens
      const context = GrowingContext.after(prefix, random, tokens)
      context.append(options.prefixTokens + options.questionTokens - context.tokens)
      return context
    }),
  )
  const order = shuffled(contexts, random)
  const sessions: WorkloadSession[] = []
  let stageStartMs = 0
  for (const stage of options.stages) {
    for (const [i, atMs] of arrivals(stage, random).entries()) {
      const context = order[i % order.length]!
      sessions.push({
        id: `request-${sessions.length}`,
        startMs: stageStartMs + atMs,
        tenant: 'default',
        priorityClass: 'standard',
        turns: [
          {
            gapMs: 0,
            promptTokens: context.tokens,
            outputTokens: options.outputTokens,
            chain: context.chain(),
          },
        ],
      })
    }
    stageStartMs += stage.seconds * 1_000
  }
  return { name: 'shared-prefix', sessions }
}

/** A Poisson process of which the number of arrivals is known: ms since the start of the stage. */
function arrivals({ perSecond, seconds }: RateStage, random: Random): number[] {
  const count = Math.floor(perSecond * seconds)
  const gaps = Array.from({ length: count + 1 }, () => randomExponential(random, 1))
  const scale = (seconds * 1_000) / gaps.reduce((sum, gap) => sum + gap, 0)
  let atMs = 0
  return gaps.slice(0, count).map((gap) => {
    atMs += gap * scale
    return atMs
  })
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const order = [...items]
  for (let i = order.length - 1; i > 0; i--) {
    const other = randomInt(random, i + 1)
    const moved = order[i]!
    order[i] = order[other]!
    order[other] = moved
  }
  return order
}
