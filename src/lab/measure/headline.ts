/** The figures that are shown first, and what they come to in a sentence. */
import { type ArmComparison, type Metric, meanMetric, quantileMetric } from './compare.ts'

export const goodputMetric = meanMetric('goodput', true, ({ goodput }) => goodput.share)

export const headlineMetrics = [
  meanMetric('tokens/s', true, ({ whole }) => whole.totalTokens),
  quantileMetric('TTFT p50', 'ttftMs', 0.5),
  quantileMetric('TTFT p90', 'ttftMs', 0.9),
  quantileMetric('task p50', 'taskMs', 0.5),
  goodputMetric,
] as const satisfies readonly Metric[]

/**
 * What the best of the others gains on the first, for somebody who reads nothing else. The best is
 * the one with most tokens per second; where none is better beyond chance, it says so.
 */
export function headline(arms: readonly ArmComparison[], fleet: string): string {
  const [first, ...others] = arms
  if (first === undefined || others.length === 0) return ''
  const best = others.reduce((a, b) => (b.values[0]! > a.values[0]! ? b : a))
  const [tokens] = best.ratios!
  const { value, low, high } = tokens!
  const sure = low !== null && high !== null
  if (sure && low <= 1 && high >= 1) {
    const spread = `${percent(low - 1)} to ${percent(high - 1)}`
    return (
      `On this traffic no other policy serves more on ${fleet} than ${first.name}, ` +
      `beyond chance: ${best.name} comes to ${percent(value - 1)} (95 % interval ${spread}).`
    )
  }
  const interval = sure ? ` (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)})` : ''
  return (
    `On this traffic ${best.name} serves ${value.toFixed(2)} times the tokens of ${first.name} ` +
    `on ${fleet}${interval}, and half of the requests wait ${seconds(best.values[1]!)} or less ` +
    `for their first token, instead of ${seconds(first.values[1]!)}.`
  )
}

function percent(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)} %`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
}
