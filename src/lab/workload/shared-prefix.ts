import { randomExponential, seededRandom } from '../../base/random.ts'
import { GrowingContext } from './context.ts'
import type { Workload, WorkloadSession } from './session.ts'

/** Requests at one rate, for one length of time. */
export interface RateStage {
  readonly perSecond: number
  readonly seconds: number
}

/**
 * The shared-prefix ladder of llm-d's published benchmark (evaluation.md 1.1): groups that share a
 * system prompt, a few users in each, Poisson arrivals in stages.
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
  const sessions: WorkloadSession[] = []
  let stageStartMs = 0
  for (const stage of options.stages) {
    const endMs = stageStartMs + stage.seconds * 1_000
    let atMs = stageStartMs + randomExponential(random, 1_000 / stage.perSecond)
    while (atMs < endMs) {
      const context = contexts[Math.floor(random.next() * contexts.length)]!
      sessions.push({
        id: `request-${sessions.length}`,
        startMs: atMs,
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
      atMs += randomExponential(random, 1_000 / stage.perSecond)
    }
    stageStartMs = endMs
  }
  return { name: 'shared-prefix', sessions }
}
