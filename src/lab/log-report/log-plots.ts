import { type Plot, plotSeriesMax } from '../report/plot-spec.ts'
import type { ReportSection } from '../report/report.ts'
import type { LogFigures } from './log-figures.ts'
import { taskKinds } from './logged-task.ts'

/** The plots of a log for which it has data. */
export function logPlots(figures: LogFigures): ReportSection[] {
  return [
    { title: 'Where the time of tasks went', parts: taskPlots(figures) },
    { title: 'Latency and cache', parts: latencyPlots(figures) },
    { title: 'Over time', parts: timePlots(figures) },
  ].filter(({ parts }) => parts.length > 0)
}

const seconds = { label: 's', factor: 1e-3 }

function taskPlots({ tasks, taskMs }: LogFigures): Plot[] {
  if (tasks.all === 0) return []
  return [
    {
      kind: 'plot',
      plot: 'gantt',
      title: 'Slowest tasks',
      x: { label: 'since the task began, s', factor: 1e-3 },
      kinds: taskKinds,
      rows: tasks.slowest.map(({ session, spans }) => ({ name: session, spans })),
      note: 'Of each task the first 200 calls.',
    },
    {
      kind: 'plot',
      plot: 'bars',
      title: 'Mean task, by how long it took',
      stacked: true,
      categories: tasks.classes.map(({ name, count }) => `${name} (${count})`),
      value: seconds,
      series: taskKinds.map((kind) => ({
        name: kind,
        values: tasks.classes.map(({ meanPhases }) => meanPhases[kind]),
      })),
    },
    {
      kind: 'plot',
      plot: 'cdf',
      title: 'Task time',
      x: { ...seconds, scale: 'log' },
      series: [{ name: 'all tasks', values: taskMs }],
    },
  ]
}

function latencyPlots({ ttftByModel, predicted, endpoints }: LogFigures): Plot[] {
  const known = ttftByModel.filter(({ ttftMs }) => ttftMs.length > 0).slice(0, plotSeriesMax)
  const plots: Plot[] = []
  if (known.length > 0) {
    plots.push({
      kind: 'plot',
      plot: 'cdf',
      title: 'Time to first token',
      x: { ...seconds, scale: 'log' },
      series: known.map(({ name, ttftMs }) => ({ name, values: ttftMs })),
    })
  }
  const found = endpoints.filter(({ tokens }) => tokens.prompt > 0)
  if (found.length > 0) {
    plots.push({
      kind: 'plot',
      plot: 'bars',
      title: 'Prompt tokens',
      categories: found.map(({ name }) => name),
      value: { label: 'million tokens', factor: 1e-6 },
      series: [
        { name: 'from cache', values: found.map(({ tokens }) => tokens.cached) },
        { name: 'recomputed', values: found.map(({ tokens }) => tokens.recomputed) },
        { name: 'all', values: found.map(({ tokens }) => tokens.prompt) },
      ],
    })
  }
  if (predicted.length > 0) plots.push(predictedPlot(predicted))
  return plots
}

function predictedPlot(predicted: LogFigures['predicted']): Plot {
  const byEndpoint = [...Map.groupBy(predicted, ({ endpoint }) => endpoint)]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, plotSeriesMax)
  return {
    kind: 'plot',
    plot: 'scatter',
    title: 'From dispatch to the first token, predicted and measured',
    x: { label: 'measured, s', factor: 1e-3, scale: 'log' },
    y: { label: 'predicted, s', factor: 1e-3, scale: 'log' },
    diagonal: true,
    series: byEndpoint.map(([name, points]) => ({
      name,
      points: points.map(({ measuredMs, predictedMs }) => ({ x: measuredMs, y: predictedMs })),
    })),
    note: 'A fair choice of at most 2,000 requests; on the line the prediction was right.',
  }
}

function timePlots({ timeline }: LogFigures): Plot[] {
  if (timeline === null || timeline.arrivals.length < 2) return []
  const { binMs, arrivals, refused, computedTokens } = timeline
  const x = { label: 'since the first request, s', factor: 1e-3 }
  const points = (values: readonly number[]) => values.map((y, i) => ({ x: i * binMs, y }))
  const plots: Plot[] = [
    {
      kind: 'plot',
      plot: 'line',
      title: 'Requests',
      x,
      y: { label: `in ${binMs / 1_000} s` },
      series: [
        { name: 'arrived', points: points(arrivals) },
        ...(refused.some((n) => n > 0) ? [{ name: 'refused', points: points(refused) }] : []),
      ],
    },
  ]
  if (computedTokens.length > 0) {
    plots.push({
      kind: 'plot',
      plot: 'heatmap',
      title: 'Prefill work by endpoint: prompt tokens not found cached',
      x,
      start: 0,
      step: binMs,
      value: { label: `tokens in ${binMs / 1_000} s` },
      rows: computedTokens,
    })
  }
  return plots
}
