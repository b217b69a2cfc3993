import type { StageProgress } from '../lab/bench/run-bench.ts'
import { loadText } from '../lab/bench/stage-load.ts'

/** A stage under way, in a line. */
export function progressText(progress: StageProgress): string {
  const { url, load, stage, stages, elapsedMs, plannedMs, tally } = progress
  const { requests, samples, inFlight } = tally
  const seconds = (ms: number): string => (ms / 1_000).toFixed(0)
  const of = plannedMs === null ? '' : ` of ${seconds(plannedMs)}`
  const missed = requests.all - requests.done
  const parts = [
    `${stage}/${Math.max(stage, stages)} ${url} ${loadText(load)}`,
    `${seconds(elapsedMs)}${of} s`,
    `${requests.done} done`,
    `${inFlight} open`,
    ...(missed > 0 ? [`${missed} missed`] : []),
    ...(samples.ttftMs.count > 0
      ? [
          `TTFT p50 ${(samples.ttftMs.quantile(0.5) / 1_000).toFixed(2)} s`,
          `p99 ${(samples.ttftMs.quantile(0.99) / 1_000).toFixed(2)} s`,
        ]
      : []),
    ...(samples.lagMs.count > 0 ? [`lag p99 ${samples.lagMs.quantile(0.99).toFixed(1)} ms`] : []),
  ]
  return parts.join('  ')
}
