/** One run of ours, as it went. */
import type { GanttPlot, HeatmapPlot, Plot } from '../report/plot-spec.ts'
import type { RunRecords } from '../runner/simulation-job.ts'
import type { SimulatedRequest } from '../simulator/request-record.ts'
import type { PointResult } from './run-goal.ts'

const sessionsDrawn = 40
const columnsMax = 120
const time = { label: 's', factor: 0.001 }

/** What each session and each endpoint did, in the first run of ours. */
export function runPlots({ point, ours }: PointResult): Plot[] {
  const records = ours.runs[0]?.records ?? null
  if (records === null) return []
  const sessions = records.sessions.length < records.requests.length
  return [...(sessions ? [sessionPlot(point.name, records)] : []), memoryPlot(point.name, records)]
}

const kinds = ['held at the router', 'until the first token', 'answer']

function sessionPlot(name: string, { sessions, requests }: RunRecords): GanttPlot {
  return {
    kind: 'plot',
    plot: 'gantt',
    title: `${name}: sessions, in between their tools`,
    note: `The first ${sessionsDrawn} of ${sessions.length} sessions, of one run of ours.`,
    x: time,
    kinds,
    rows: sessions.slice(0, sessionsDrawn).map(({ id }) => ({
      name: id,
      spans: requests.filter(({ sessionId }) => sessionId === id).flatMap(spansOf),
    })),
  }
}

function spansOf(request: SimulatedRequest): { kind: string; from: number; to: number }[] {
  const { readyMs, dispatchedMs, firstTokenMs, finishedMs } = request
  const [held, first, answer] = kinds
  const spans = [
    { kind: held!, from: readyMs, to: dispatchedMs },
    { kind: first!, from: dispatchedMs, to: firstTokenMs },
    { kind: answer!, from: firstTokenMs, to: finishedMs },
  ]
  return spans.flatMap(({ kind, from, to }) =>
    from === null || to === null || to <= from ? [] : [{ kind, from, to }],
  )
}

function memoryPlot(name: string, { timeline }: RunRecords): HeatmapPlot {
  const { atMs, engines } = timeline
  const step = Math.max(1, Math.ceil(atMs.length / columnsMax))
  const columns = atMs.flatMap((_, i) => (i % step === 0 ? [i] : []))
  return {
    kind: 'plot',
    plot: 'heatmap',
    title: `${name}: KV memory that running requests use`,
    note: 'One run of ours.',
    x: time,
    start: 0,
    step: (atMs[0] ?? 0) * step,
    value: { label: '% of memory', factor: 100, from: 0, to: 1 },
    rows: engines.map(({ endpoint, kvUsage }) => ({
      name: endpoint.replace('http://', ''),
      values: columns.map((i) => kvUsage[i] ?? null),
    })),
  }
}
