/** What llm-d publishes, as it stands on its pages: the figures that the simulator is held to. */

export interface PublishedStage {
  readonly perSecond: number
  readonly seconds: number
  /** Output tokens per second over the stage and its drain. */
  readonly outputPerSecond: Readonly<Record<LadderArm, number>>
  readonly ttftMeanS: Readonly<Record<LadderArm, number>>
}

/** Their names here: a Kubernetes service in turn, and llm-d's router of that time. */
export const ladderArms = ['round-robin', 'llm-d-blend'] as const
export type LadderArm = (typeof ladderArms)[number]

/**
 * Qwen3-32B on eight times two H100, groups that share a prompt of 6,000 tokens, Poisson arrivals:
 * guides/optimized-baseline/README.md at 021723b8; rates and durations of the stages and the
 * warm-up of 50 s at 15/s from guides/benchmark/inference_scheduling_guide_template.yaml.
 */
export const publishedLadder: readonly PublishedStage[] = (
  [
    [3, 20, 1_797, 1_777, 0.415, 0.133],
    [10, 20, 4_215, 5_066, 0.63, 0.125],
    [15, 20, 5_381, 7_053, 0.881, 0.122],
    [20, 38, 6_205, 11_688, 18.103, 0.174],
    [22, 34, 5_517, 12_436, 20.171, 0.116],
    [25, 30, 5_965, 12_501, 21.842, 0.116],
    [30, 25, 5_702, 13_862, 24.597, 0.117],
    [35, 21, 5_890, 14_026, 24.162, 0.117],
    [40, 38, 6_336, 16_041, 68.673, 0.153],
    [43, 36, 6_588, 16_339, 72.429, 0.254],
    [46, 33, 6_459, 16_665, 70.084, 0.154],
    [49, 30, 6_265, 16_126, 70.659, 0.151],
    [52, 29, 6_303, 16_474, 74.326, 0.152],
    [55, 27, 6_290, 16_854, 72.564, 0.153],
    [57, 26, 6_089, 16_641, 72.329, 0.153],
    [60, 25, 6_551, 17_064, 75.586, 0.154],
  ] as const
).map(([perSecond, seconds, turn, blend, turnTtft, blendTtft]) => ({
  perSecond,
  seconds,
  outputPerSecond: { 'round-robin': turn, 'llm-d-blend': blend },
  ttftMeanS: { 'round-robin': turnTtft, 'llm-d-blend': blendTtft },
}))

/** Seconds of warm-up before the first stage, at 15 requests per second. */
export const ladderWarmUpSeconds = 50
