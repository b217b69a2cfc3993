/** A goal's figures as plots. */
import type { Metric } from '../measure/compare.ts'
import type { LinePoint, LineSeries, Plot } from '../report/plot-spec.ts'
import type { ArmResults } from '../runner/run-arms.ts'
import type { Goal } from './goal.ts'
import { ttftP50 } from './goal-metrics.ts'
import { measured } from './judge.ts'
import type { GoalResult, PointResult } from './run-goal.ts'
import { runPlots } from './run-plots.ts'

const armsDrawn = 6

/** Those on the goal's axis in one plot; else each point by itself. */
export function goalPlots({ goal, points }: GoalResult): Plot[] {
  const { axis } = goal
  const onAxis = points.filter(({ point }) => point.x !== undefined)
  if (axis !== undefined && onAxis.length > 1) {
    return [goal.rank, ttftP50].map((metric) => sweepPlot(metric, axis, onAxis))
  }
  return points.flatMap((point) => [bars(goal, point), waits(point), ...runPlots(point)])
}

function sweepPlot(
  metric: Metric,
  axis: NonNullable<Goal['axis']>,
  points: readonly PointResult[],
): Plot {
  const line = (
    name: string,
    armAt: (point: PointResult) => ArmResults | undefined,
  ): LineSeries => ({
    name,
    points: points.flatMap((point) => {
      const arm = armAt(point)
      return arm === undefined ? [] : [{ x: point.point.x!, ...drawn(metric, arm) }]
    }),
  })
  const peers = points.map((point) => new Set(point.peers.map(({ name }) => name)))
  const everywhere = [...peers[0]!].filter((name) => peers.every((names) => names.has(name)))
  return {
    kind: 'plot',
    plot: 'line',
    title: metric.name,
    x: axis,
    y: axisOf(metric),
    series: [
      line(points[0]!.ours.name, ({ ours }) => ours),
      line('best peer of each point', (point) => point.peers[0]),
      ...everywhere.map((name) => line(name, (at) => at.peers.find((one) => one.name === name))),
    ].slice(0, armsDrawn),
  }
}

function drawn(metric: Metric, { runs }: ArmResults): Omit<LinePoint, 'x'> {
  const { value, low, high } = measured(metric, runs)
  return { y: value, low, high }
}

/** Ours and the best peers. */
function armsOf({ ours, peers }: PointResult): readonly ArmResults[] {
  return [ours, ...peers]
}

function bars({ rank }: Goal, point: PointResult): Plot {
  const arms = armsOf(point)
  const values = arms.map(({ runs }) => measured(rank, runs))
  return {
    kind: 'plot',
    plot: 'bars',
    title: `${point.point.name}: ${rank.name}`,
    categories: arms.map(({ name }) => name),
    value: axisOf(rank),
    series: [
      {
        name: rank.name,
        values: values.map(({ value }) => value),
        low: values.map(({ low }) => low),
        high: values.map(({ high }) => high),
      },
    ],
  }
}

function waits(point: PointResult): Plot {
  return {
    kind: 'plot',
    plot: 'cdf',
    title: `${point.point.name}: time to first token`,
    x: { label: 's', scale: 'log', factor: 0.001 },
    series: armsOf(point)
      .slice(0, armsDrawn)
      .map(({ name, runs }) => ({ name, values: runs.flatMap(({ samples }) => samples.ttftMs) })),
  }
}

function axisOf({ name }: Metric): { readonly label: string; readonly factor?: number } {
  return name.startsWith('TTFT') ? { label: `${name} s`, factor: 0.001 } : { label: name }
}
