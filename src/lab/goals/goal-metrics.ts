/** The figures that goals are about. */
import { meanMetric, quantileMetric } from '../measure/compare.ts'

export const throughput = meanMetric('tokens/s', true, ({ whole }) => whole.totalTokens)

export const ttftP50 = quantileMetric('TTFT p50', 'ttftMs', 0.5)

export const taskP50 = quantileMetric('task p50', 'taskMs', 0.5)

/** The worst session of all seeds: whoever was starved. */
export const slowdownMax = quantileMetric('slowdown max', 'slowdown', 1)
