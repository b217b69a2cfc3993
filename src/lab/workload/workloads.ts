/** Every workload that can be asked for by name. */
import { didYouMean } from '../../config/did-you-mean.ts'
import { type OptionValues, optionValues } from '../option-values.ts'
import { codeGeneration, codeGenerationDefaults } from './code-generation.ts'
import { codeGenerationReplay, codeGenerationReplayDefaults } from './code-generation-replay.ts'
import type { Workload } from './session.ts'
import { type RateStage, sharedPrefix, sharedPrefixDefaults } from './shared-prefix.ts'
import { unshared, unsharedDefaults } from './unshared.ts'

export interface WorkloadKind {
  readonly name: string
  /** In a line, for a list. */
  readonly summary: string
  readonly defaults: OptionValues
  /** @param options the defaults and what was asked for: the same keys, values of the same types */
  readonly build: (options: OptionValues, seed: number) => Workload
}

function kind<Options extends OptionValues>(
  name: string,
  summary: string,
  defaults: Options,
  build: (options: Options, seed: number) => Workload,
): WorkloadKind {
  return { name, summary, defaults, build: build as WorkloadKind['build'] }
}

/** Seats the prefixes as llm-d's ladder does it, and lets the fleet come to rest. */
function warmUpOf(seconds: number): RateStage[] {
  return [
    { perSecond: 15, seconds },
    { perSecond: 0, seconds: warmUpDrainSeconds },
  ]
}

/** Long enough for every answer of the warm-up under any policy. */
export const warmUpDrainSeconds = 120

/** Between stages of one run: long enough for all answers, however long the queue was. */
export const stageRestSeconds = 600

function stagesOf(rates: string, seconds: number): RateStage[] {
  return rates.split('/').flatMap((rate) => {
    const perSecond = Number(rate)
    if (!(perSecond > 0)) throw new RangeError(`rates are such as 5/10/20, not "${rates}"`)
    return [
      { perSecond, seconds },
      { perSecond: 0, seconds: stageRestSeconds },
    ]
  })
}

export const workloadKinds: readonly WorkloadKind[] = [
  kind(
    'code-generation',
    'coding agents: a long context each, turn by turn, all submitted at once',
    { ...codeGenerationDefaults },
    codeGeneration,
  ),
  kind(
    'code-generation-replay',
    'the same as llm-d publishes it: the lengths of a seed of its load generator, and its pace',
    { ...codeGenerationReplayDefaults },
    codeGenerationReplay,
  ),
  kind(
    'shared-prefix',
    'single requests of groups that share a system prompt, at one rate',
    { ...sharedPrefixDefaults, perSecond: 15, seconds: 60, warmUpSeconds: 0 },
    ({ perSecond, seconds, warmUpSeconds, ...options }, seed) => {
      const stages = warmUpSeconds > 0 ? [...warmUpOf(warmUpSeconds)] : []
      return sharedPrefix({ ...options, stages: [...stages, { perSecond, seconds }] }, seed)
    },
  ),
  kind(
    'shared-prefix-stages',
    'the same at several rates, one after the other on the same engines, with rests between them',
    { ...sharedPrefixDefaults, rates: '5/10/20', seconds: 60 },
    ({ rates, seconds, ...options }, seed) =>
      sharedPrefix({ ...options, stages: stagesOf(rates, seconds) }, seed),
  ),
  kind(
    'unshared',
    'single requests that share nothing, at one rate: the negative control',
    { ...unsharedDefaults, perSecond: 10, seconds: 120 },
    unshared,
  ),
]

/**
 * The workload that a text describes: `code-generation`, or with options
 * `code-generation,sessions=80,turns=10`.
 * @throws RangeError that says what would be valid
 */
export function workloadOf(text: string, seed: number): Workload {
  const { kind, options } = parseWorkload(text)
  return kind.build(options, seed)
}

/** The same, not built: to find out early whether it could be. */
export function parseWorkload(text: string): { kind: WorkloadKind; options: OptionValues } {
  const [name = '', ...rest] = text.split(',')
  const kind = workloadKinds.find((one) => one.name === name)
  if (kind === undefined) {
    const names = workloadKinds.map((one) => one.name)
    const meant = didYouMean(name, names)
    const hint = meant === null ? `there are ${names.join(', ')}` : `did you mean ${meant}?`
    throw new RangeError(`no workload "${name}"; ${hint}`)
  }
  return { kind, options: optionValues(rest, kind.defaults, name) }
}
