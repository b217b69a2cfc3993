/** What llm-d publishes of requests that share prompts, in stages of growing rate. */
import { ladderArms, ladderWarmUpSeconds, publishedLadder } from './published-ladder.ts'

export interface StagesExperiment {
  readonly title: string
  /** What was run, what was fitted to it, and what is assumed. */
  readonly note: string
  /** Which tokens were counted. */
  readonly counted: 'outputTokens' | 'totalTokens'
  /** A workload with its options, but without rate. */
  readonly workload: string
  /** The stages follow each other on the same engines; else each has engines of its own. */
  readonly inOneRun: boolean
  readonly series: readonly StagesSeries[]
}

/** One router on one set-up. */
export interface StagesSeries {
  readonly title: string
  readonly arm: string
  readonly variant?: string
  readonly fleet: string
  readonly stages: readonly PublishedStage[]
}

export interface PublishedStage {
  readonly perSecond: number
  readonly seconds: number
  /** Over the stage and its drain. */
  readonly tokensPerSecond: number
  readonly ttftMeanS: number
}

const warmUp = `warmUpSeconds=${ladderWarmUpSeconds}`

/** See `publishedLadder`. */
const ladder: StagesExperiment = {
  title: 'Qwen3-32B on eight times two H100',
  note:
    'In sample: the step-time coefficients were fitted by hand to this very table, so the ' +
    'agreement is a fit and no proof. Each stage runs by itself behind the warm-up.',
  counted: 'outputTokens',
  workload: `shared-prefix,${warmUp}`,
  inOneRun: false,
  series: ladderArms.map((arm) => ({
    title: arm,
    arm,
    fleet: '8xqwen3-32b-2xh100',
    stages: publishedLadder.map(({ perSecond, seconds, outputPerSecond, ttftMeanS }) => ({
      perSecond,
      seconds,
      tokensPerSecond: outputPerSecond[arm],
      ttftMeanS: ttftMeanS[arm],
    })),
  })),
}

/** Stages of the same rates and lengths as the ladder. */
function ladderStages(figures: readonly (readonly [number, number])[]): PublishedStage[] {
  return publishedLadder.map(({ perSecond, seconds }, i) => {
    const [tokensPerSecond, ttftMeanS] = figures[i]!
    return { perSecond, seconds, tokensPerSecond, ttftMeanS }
  })
}

/** guides/optimized-baseline/benchmark-results/vllm-gpt-oss-120b-h100 of llm-d at 7edda66d. */
const gptOss: StagesExperiment = {
  title: 'gpt-oss-120B on 16 H100',
  note:
    'Out of sample: prefill speed is measured, the rest derived or assumed before. KV memory is ' +
    'the least with which the engine starts at its default context. Published answers are ' +
    'counted by tokenizing their text again: at 3 and 10/s that makes more than were asked for.',
  counted: 'outputTokens',
  workload: `shared-prefix,questionTokens=500,outputTokens=500,${warmUp}`,
  inOneRun: false,
  series: [
    {
      title: 'random (Kubernetes service)',
      arm: 'random',
      fleet: '16xgpt-oss-120b-h100',
      stages: ladderStages([
        [1_351, 0.221],
        [5_004, 0.286],
        [6_496, 0.233],
        [9_306, 0.348],
        [10_008, 0.319],
        [10_802, 0.354],
        [11_763, 0.714],
        [11_494, 0.431],
        [13_894, 3.431],
        [15_313, 3.753],
        [14_633, 5.062],
        [14_459, 5.977],
        [14_817, 5.69],
        [14_173, 6.586],
        [13_547, 6.836],
        [14_590, 7.659],
      ]),
    },
    {
      title: 'llm-d-blend',
      arm: 'llm-d-blend',
      fleet: '16xgpt-oss-120b-h100',
      stages: ladderStages([
        [2_026, 0.054],
        [5_033, 0.053],
        [7_165, 0.059],
        [9_825, 0.081],
        [10_916, 0.06],
        [11_526, 0.063],
        [13_643, 0.064],
        [14_778, 0.064],
        [19_309, 0.077],
        [20_119, 0.072],
        [22_326, 0.072],
        [21_852, 0.071],
        [21_544, 0.094],
        [22_171, 0.236],
        [22_830, 0.196],
        [26_013, 0.105],
      ]),
    },
  ],
}

function tierStages(rows: readonly (readonly [number, number, number])[]): PublishedStage[] {
  return rows.map(([perSecond, tokensPerSecond, ttftMeanS]) => {
    return { perSecond, seconds: 60, tokensPerSecond, ttftMeanS }
  })
}

/**
 * guides/tiered-prefix-cache/benchmark-results/vllm-qwen3-32b-h100.md at the same state, with the
 * sizes of both tiers.
 */
const tiers: StagesExperiment = {
  title: 'Qwen3-32B on eight times two H100, with and without host memory',
  note:
    'Out of sample: coefficients as above, reload at 40 GB/s per GPU assumed before. 250 prompts ' +
    'of 16,000 tokens, 4.6M in all, on 2.4M tokens of GPU and 10.5M of host memory.',
  counted: 'totalTokens',
  workload:
    'shared-prefix-stages,groups=250,prefixTokens=16000,questionTokens=256,outputTokens=256,' +
    'seconds=60',
  inOneRun: true,
  series: [
    {
      title: 'GPU memory only',
      arm: 'llm-d-blend',
      variant: '1/1/1',
      fleet: '8xqwen3-32b-2xh100:kvTokens=298000',
      stages: tierStages([
        [5, 74_639, 1.62],
        [10, 122_388, 8.08],
        [20, 114_663, 43.67],
        [40, 115_645, 115.57],
      ]),
    },
    {
      title: 'with host memory',
      arm: 'llm-d-blend',
      variant: 'tiers',
      fleet: '8xqwen3-32b-2xh100:kvTokens=298000:hostTokens=1312000',
      stages: tierStages([
        [5, 82_880, 1.17],
        [10, 167_028, 0.41],
        [20, 300_749, 0.89],
        [40, 331_213, 25.38],
      ]),
    },
  ],
}

export const publishedStages: readonly StagesExperiment[] = [ladder, gptOss, tiers]
