/** The figures that goals are about. */
import { type Metric, meanMetric, quantileMetric } from '../measure/compare.ts'
import { goodputMetric as goodput } from '../measure/headline.ts'

export const throughput = meanMetric('tokens/s', true, ({ whole }) => whole.totalTokens)

/** While the load is full. */
export const steadyThroughput = meanMetric(
  'steady tokens/s',
  true,
  ({ steady }) => steady?.totalTokens ?? null,
)

export const ttftP50 = quantileMetric('TTFT p50', 'ttftMs', 0.5)

export const ttftP90 = quantileMetric('TTFT p90', 'ttftMs', 0.9)

export const ttftP95 = quantileMetric('TTFT p95', 'ttftMs', 0.95)

export const ttftP99 = quantileMetric('TTFT p99', 'ttftMs', 0.99)

export const taskP50 = quantileMetric('task p50', 'taskMs', 0.5)

/** The worst session of all seeds: whoever was starved. */
export const slowdownMax = quantileMetric('slowdown max', 'slowdown', 1)

/** The share of good requests among those of a stretch of the run. */
export function goodputIn(window: string): Metric {
  return meanMetric(`goodput, ${window}`, true, ({ windows }) => windows[window]!.goodput.share)
}

/** The share of good requests in one stretch of the run over that in another. */
export function goodputRatioOf(window: string, other: string): Metric {
  return meanMetric(`goodput, ${window} over ${other}`, true, ({ windows }) => {
    return windows[window]!.goodput.share / windows[other]!.goodput.share
  })
}

/** The seed in which the figure is worst: whether any falls apart. */
export function worstSeed(metric: Metric): Metric {
  const { name, moreIsBetter } = metric
  return {
    name: `${name}, worst seed`,
    moreIsBetter,
    of: (runs) => {
      const bySeed = runs.map((run) => metric.of([run])([1]))
      const worst = moreIsBetter ? Math.min : Math.max
      return (weights) => worst(...bySeed.filter((_, seed) => weights[seed]! > 0))
    },
  }
}

export { goodput }
