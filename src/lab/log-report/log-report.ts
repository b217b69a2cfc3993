import type {
  Cell,
  Provenance,
  Report,
  ReportColumn,
  ReportPart,
  ReportTable,
} from '../report/report.ts'
import type { CallFigures } from './call-tally.ts'
import type { LogFigures, NamedFigures } from './log-figures.ts'
import { logPlots } from './log-plots.ts'
import { duration, logSentence } from './log-sentence.ts'
import { taskKinds } from './logged-task.ts'

/** The figures of a decision log as a report. */
export function logReport(figures: LogFigures, provenance: Provenance): Report {
  const { models, tenants, endpoints, tasks, time } = figures
  const from = time === null ? '' : `, ${shortTime(time.from)} to ${shortTime(time.to)} UTC`
  const parts: ReportPart[] = [groupTable('By model', models)]
  if (tenants.length > 1) parts.push(groupTable('By tenant', tenants))
  parts.push(groupTable('By endpoint', endpoints))
  if (tasks.all > 0) parts.push(taskTable(figures), slowestTable(figures))
  return {
    title: `What happened${from}`,
    summary: logSentence(figures),
    provenance,
    sections: [
      { title: 'Requests and tasks', parts },
      ...logPlots(figures),
      { title: 'Predictions', parts: [predictionTable(endpoints)] },
      { title: 'What went wrong, or with less', parts: troubleParts(figures) },
      { title: 'How to read it', parts: readingTexts(figures) },
    ],
  }
}

/** `2026-12-01 14:05:45`. */
function shortTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}

const columns = (...titles: (string | readonly [string, number, number?])[]): ReportColumn[] =>
  titles.map((title) =>
    typeof title === 'string'
      ? { title }
      : { title: title[0], digits: title[1], factor: title[2] ?? 1 },
  )

function groupTable(title: string, groups: readonly NamedFigures[]): ReportTable {
  return {
    kind: 'table',
    title,
    columns: columns(
      title.replace('By ', ''),
      ['requests', 0],
      ['refused', 0],
      ['failed', 0],
      ['TTFT p50 s', 2, 1e-3],
      ['p90', 2, 1e-3],
      ['p99', 2, 1e-3],
      ['TPOT p50 ms', 1],
      ['E2E p50 s', 2, 1e-3],
      ['p99', 2, 1e-3],
      ['cached %', 1, 100],
      ['recomputed Mtok', 3, 1e-6],
    ),
    rows: groups.map(groupRow),
  }
}

function groupRow(group: CallFigures & { readonly name: string }): Cell[] {
  const { name, requests, ttftMs, tpotMs, e2eMs, cachedShare, tokens } = group
  return [
    name,
    requests.all,
    requests.refused,
    requests.failed,
    ttftMs.p50,
    ttftMs.p90,
    ttftMs.p99,
    tpotMs.p50,
    e2eMs.p50,
    e2eMs.p99,
    cachedShare,
    tokens.recomputed,
  ]
}

function taskTable({ tasks, cost }: LogFigures): ReportTable {
  const { all, completed, ofSeveralCalls, calls, taskMs } = tasks
  return {
    kind: 'table',
    title: 'Tasks',
    columns: columns(
      ['tasks', 0],
      ['completed', 0],
      ['of several calls', 0],
      ['calls p50', 0],
      ['p50 s', 1, 1e-3],
      ['p90', 1, 1e-3],
      ['p99', 1, 1e-3],
      ['max', 1, 1e-3],
      ...(cost === null ? [] : [['cost per completed task', 4] as const, ['in all', 2] as const]),
    ),
    rows: [
      [
        all,
        completed,
        ofSeveralCalls,
        calls.p50,
        taskMs.p50,
        taskMs.p90,
        taskMs.p99,
        taskMs.max,
        ...(cost === null ? [] : [cost.perCompletedTask, cost.total]),
      ],
    ],
  }
}

function slowestTable({ tasks }: LogFigures): ReportTable {
  return {
    kind: 'table',
    title: 'Slowest tasks, and where their time went (s)',
    columns: columns(
      'session',
      'tenant',
      'began',
      ['calls', 0],
      ['all', 1, 1e-3],
      ...taskKinds.map((kind) => [kind, 1, 1e-3] as const),
      'completed',
    ),
    rows: tasks.slowest.map((task) => [
      task.session,
      task.tenant,
      shortTime(task.startedAt),
      task.calls,
      task.taskMs,
      ...taskKinds.map((kind) => task.phases[kind]),
      task.completed ? 'yes' : 'no',
    ]),
  }
}

function predictionTable(endpoints: readonly NamedFigures[]): ReportTable {
  return {
    kind: 'table',
    title: 'Time from dispatch to the first token: measured over predicted',
    columns: columns(
      'endpoint',
      ['requests', 0],
      ['ratio p10', 2],
      ['p50', 2],
      ['p90', 2],
      ['error p50 ms', 0],
      ['p90', 0],
      ['p99', 0],
      ['believed cached Mtok', 3, 1e-6],
      ['found', 3, 1e-6],
    ),
    rows: endpoints.map(({ name, prediction }) => {
      const { count, ratio, errorMs, cachedPredicted, cachedFound } = prediction
      const ratios = [ratio.p10, ratio.p50, ratio.p90]
      const errors = [errorMs.p50, errorMs.p90, errorMs.p99]
      return [name, count, ...ratios, ...errors, cachedPredicted, cachedFound]
    }),
    note: 'Requests that were sent once. 1 is right; 2 took twice as long as predicted.',
    pageOnly: true,
  }
}

function troubleParts({ refusals, failures, fallbacks, lines }: LogFigures): ReportPart[] {
  const rows = [
    ...Object.entries(refusals).map(([name, count]) => [`refused: ${name}`, count]),
    ...Object.entries(failures).map(([name, count]) => [`failed: ${name}`, count]),
    ...Object.entries(fallbacks).map(([name, count]) => [name, count]),
    ['outcomes without a decision', lines.outcomesWithoutDecision],
    ['lines that could not be read', lines.bad],
    ['lines of unknown types', lines.unknown],
  ].filter(([, count]) => count !== 0)
  if (rows.length === 0) return [{ kind: 'text', text: 'Nothing.' }]
  const table: ReportTable = {
    kind: 'table',
    title: 'How often',
    columns: columns('what', ['times', 0]),
    rows,
  }
  return lines.problems.length === 0 ? [table] : [table, badLineTable(lines.problems)]
}

function badLineTable(problems: LogFigures['lines']['problems']): ReportTable {
  return {
    kind: 'table',
    title: 'Lines that could not be read',
    columns: columns('file', ['line', 0], 'problem'),
    rows: problems.map(({ file, line, problem }) => [file, line, problem]),
    pageOnly: true,
  }
}

function readingTexts({ tasks, starts, policies, quantiles }: LogFigures): ReportPart[] {
  return [
    `Policy ${policies.join(', ') || 'not known'}; the log begins ${starts} time` +
      `${starts === 1 ? '' : 's'} with a router that started.`,
    `A task is a session's calls; after ${duration(tasks.gapMs)} of silence a new one begins. It ` +
      'is completed when its last call was answered. Its time runs from its first arrival to its ' +
      'last end; where calls ran side by side, the parts add up to more.',
    'The log has no time at which prefill began: what lies between dispatch and first token is ' +
      'shared between queue and prefill as the router predicted them. It has no single gaps ' +
      'between tokens either: TPOT is the mean of each answer.',
    'Recomputed: prompt tokens that their session had sent before, and that no cache held.',
    `Percentiles are ${quantiles}.`,
  ].map((text) => ({ kind: 'text', text }))
}
