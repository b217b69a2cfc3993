/** A goal's figures as plots. */
import type { Metric } from '../measure/compare.ts'
import type { LineSeries, Plot } from '../report/plot-spec.ts'
import type { Goal } from './goal.ts'
import { ttftP50 } from './goal-metrics.ts'
import { measured } from './judge.ts'
import type { GoalResult, PointResult } from './run-goal.ts'

const armsDrawn = 6

/** Over the points where the goal has an axis for them; else each point by itself. */
export function goalPlots({ goal, points }: GoalResult): Plot[] {
  const { axis } = goal
  if (axis !== undefined && points.length > 1) {
    return [goal.rank, ttftP50].map((metric) => sweepPlot(metric, axis, points))
  }
  return points.flatMap((point) => [bars(goal, point), waits(point)])
}

function sweepPlot(
  metric: Metric,
  axis: NonNullable<Goal['axis']>,
  points: readonly PointResult[],
): Plot {
  const names = new Set(points.flatMap((point) => armsOf(point).map(({ name }) => name)))
  const series = [...names].map(
    (name): LineSeries => ({
      name,
      points: points.flatMap((point) => {
        const arm = armsOf(point).find((one) => one.name === name)
        if (arm === undefined) return []
        const { value, low, high } = measured(metric, arm.runs)
        return [{ x: point.point.x!, y: value, low, high }]
      }),
    }),
  )
  const most = [...series].sort((a, b) => b.points.length - a.points.length)
  return {
    kind: 'plot',
    plot: 'line',
    title: metric.name,
    x: axis,
    y: axisOf(metric),
    series: most.slice(0, armsDrawn),
  }
}

/** Ours and the best peers. */
function armsOf({ ours, peers }: PointResult): readonly PointResult['ours'][] {
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
