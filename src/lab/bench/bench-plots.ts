import type { LineSeries, Plot, Rule } from '../report/plot-spec.ts'
import { plotSeriesMax } from '../report/plot-spec.ts'
import type { ReportSection } from '../report/report.ts'
import type { BenchFigures } from './bench-figures.ts'
import { shortUrl } from './bench-target-url.ts'
import type { StageFigures } from './stage-figures.ts'
import { loadText } from './stage-load.ts'

/** The plots that figures of a bench are read from; those that the run has data for. */
export function benchPlots(figures: BenchFigures): ReportSection[] {
  const rates = new Set(figures.stages.map(({ load }) => JSON.stringify(load)))
  const sections = [
    { title: 'Against the load', parts: rates.size > 2 ? loadPlots(figures) : [] },
    { title: 'Distributions', parts: rates.size > 2 ? [] : distributionPlots(figures) },
    { title: 'Over time', parts: figures.stages.length <= 6 ? timePlots(figures) : [] },
  ]
  return sections.filter(({ parts }) => parts.length > 0)
}

function loadPlots(figures: BenchFigures): Plot[] {
  const { slo } = figures
  const x = { label: openLoop(figures) ? 'requests/s sent' : 'at once', scale: 'log' as const }
  const line = (
    title: string,
    y: { readonly label: string; readonly scale?: 'log'; readonly factor?: number },
    values: readonly (readonly [string, (stage: StageFigures) => number | null])[],
    rules: Rule[] = [],
  ): Plot => {
    const series = values.flatMap(([name, of]) => seriesOf(figures, name, loadOf, of))
    return { kind: 'plot', plot: 'line', title, x, y, series, rules: [...rules, ...knees(figures)] }
  }
  const ttftSlo: Rule[] =
    slo.ttftMs === null ? [] : [{ axis: 'y', at: slo.ttftMs, label: 'objective' }]
  return [
    line(
      'Time to first token',
      { label: 'TTFT, s', scale: 'log', factor: 1e-3 },
      [
        ['p50', ({ ttftMs }) => ttftMs.p50],
        ['p90', ({ ttftMs }) => ttftMs.p90],
        ['p99', ({ ttftMs }) => ttftMs.p99],
      ],
      ttftSlo,
    ),
    line('Time between tokens', { label: 'ms' }, [
      ['TPOT p50', ({ tpotMs }) => tpotMs.p50],
      ['ITL p99', ({ itlMs }) => itlMs.p99],
    ]),
    line('Requests within the objectives', { label: '% of all', factor: 100 }, [
      ['good', ({ goodput }) => goodput.share],
    ]),
    line('Goodput', { label: 'good requests/s' }, [['good/s', ({ goodput }) => goodput.perSecond]]),
    {
      kind: 'plot',
      plot: 'line',
      title: 'Throughput and latency',
      x: { label: 'output tokens/s' },
      y: { label: 'TTFT p90, s', scale: 'log', factor: 1e-3 },
      series: seriesOf(figures, 'TTFT p90', outputOf, ({ ttftMs }) => ttftMs.p90),
      rules: ttftSlo,
      note: 'One point a stage, joined in the order of the load.',
    },
  ]
}

function openLoop({ stages }: BenchFigures): boolean {
  return stages.every(({ load }) => load.kind === 'rate')
}

function loadOf({ load }: StageFigures): number {
  return load.kind === 'rate' ? load.perSecond : load.count
}

function outputOf({ perSecond }: StageFigures): number {
  return perSecond.outputTokens
}

function seriesOf(
  { urls, stages }: BenchFigures,
  name: string,
  x: (stage: StageFigures) => number,
  y: (stage: StageFigures) => number | null,
): LineSeries[] {
  return urls.map((url, i) => ({
    name: urls.length > 1 ? `${shortUrl(url)} ${name}` : name,
    dashed: i > 0,
    points: stages
      .filter((stage) => stage.url === url)
      .sort((a, b) => loadOf(a) - loadOf(b))
      .map((stage) => ({ x: x(stage), y: y(stage) })),
  }))
}

function knees({ knees: found, urls }: BenchFigures): Rule[] {
  return found.flatMap(({ perSecond, url }) => {
    const label = urls.length > 1 ? `knee of ${shortUrl(url)}` : 'knee'
    return perSecond === null ? [] : [{ axis: 'x' as const, at: perSecond, label }]
  })
}

function distributionPlots({ distributions, slo, urls }: BenchFigures): Plot[] {
  const plot = (title: string, key: 'ttftMs' | 'e2eMs' | 'taskMs', at: number | null): Plot => ({
    kind: 'plot',
    plot: 'cdf',
    title,
    x: { label: 's', factor: 1e-3 },
    series: distributions.slice(0, plotSeriesMax).map((one) => ({
      name: urls.length > 1 ? `${shortUrl(one.url)}, ${loadText(one.load)}` : loadText(one.load),
      values: one[key],
    })),
    rules: at === null ? [] : [{ axis: 'x', at, label: 'objective' }],
  })
  const tasks = distributions.some(
    ({ taskMs, e2eMs }) => taskMs.length > 0 && differ(taskMs, e2eMs),
  )
  return [
    plot('Time to first token', 'ttftMs', slo.ttftMs),
    plot('From sending to the last token', 'e2eMs', slo.e2eMs),
    ...(tasks ? [plot('Task time', 'taskMs', null)] : []),
  ]
}

function differ(a: readonly number[], b: readonly number[]): boolean {
  return a.length !== b.length || a.some((value, i) => value !== b[i])
}

function timePlots(figures: BenchFigures): Plot[] {
  const series = (
    of: (bin: StageFigures['timeline']['bins'][number], s: number) => number | null,
  ) =>
    figures.stages.map(({ url, load, round, timeline: { binMs, bins } }) => ({
      name: [
        ...(figures.urls.length > 1 ? [shortUrl(url)] : []),
        loadText(load),
        ...(figures.rounds > 1 ? [`round ${round + 1}`] : []),
      ].join(', '),
      points: bins.map((bin, i) => ({ x: i * binMs, y: of(bin, binMs / 1_000) })),
    }))
  const x = { label: 'since the stage began, warm-up included, s', factor: 1e-3 }
  return [
    {
      kind: 'plot',
      plot: 'line',
      title: 'Requests open',
      x,
      y: { label: 'at once' },
      series: series(({ inFlight }) => inFlight),
    },
    {
      kind: 'plot',
      plot: 'line',
      title: 'Output',
      x,
      y: { label: 'events with output, per second' },
      series: series(({ outputEvents }, seconds) => outputEvents / seconds),
    },
  ]
}
