import type {
  Cell,
  Provenance,
  Report,
  ReportColumn,
  ReportPart,
  ReportTable,
} from '../report/report.ts'
import type { BenchFigures } from './bench-figures.ts'
import { benchPlots } from './bench-plots.ts'
import { benchSentence, objectives } from './bench-sentence.ts'
import { shortUrl } from './bench-target-url.ts'
import type { TargetComparison } from './compare-targets.ts'
import { lagMsMax, type StageFigures } from './stage-figures.ts'
import { loadText } from './stage-load.ts'

/** The figures of a bench as a report. */
export function benchReport(figures: BenchFigures, provenance: Provenance): Report {
  const { urls, stages, comparisons } = figures
  const parts: ReportPart[] = [mainTable(figures), requestTable(figures)]
  if (stages.some(({ tasks }) => tasks.calls > tasks.all)) parts.push(taskTable(figures))
  if (comparisons.length > 0) parts.push(comparisonTable(figures))
  return {
    title: `Load on ${urls.map(shortUrl).join(' and ')}`,
    summary: benchSentence(figures),
    provenance,
    sections: [
      { title: 'Figures', parts },
      ...benchPlots(figures),
      { title: 'How it was measured', parts: [...methodTexts(figures), lagTable(figures)] },
    ],
  }
}

const columns = (...titles: (string | readonly [string, number, number?])[]): ReportColumn[] =>
  titles.map((title) =>
    typeof title === 'string'
      ? { title }
      : { title: title[0], digits: title[1], factor: title[2] ?? 1 },
  )

/** What tells the stages of a table apart. */
function labelColumns({ urls, rounds }: BenchFigures): ReportColumn[] {
  return columns(
    ...(urls.length > 1 ? ['URL'] : []),
    'load',
    ...(rounds > 1 ? [['round', 0] as const] : []),
  )
}

function labels({ urls, rounds }: BenchFigures, stage: StageFigures): Cell[] {
  return [
    ...(urls.length > 1 ? [shortUrl(stage.url)] : []),
    loadText(stage.load),
    ...(rounds > 1 ? [stage.round + 1] : []),
  ]
}

function stageTable(
  figures: BenchFigures,
  title: string,
  more: readonly ReportColumn[],
  cells: (stage: StageFigures) => readonly Cell[],
  rest: Pick<ReportTable, 'note' | 'pageOnly'> = {},
): ReportTable {
  const rows = inOrder(figures).map((stage) => [...labels(figures, stage), ...cells(stage)])
  return { kind: 'table', title, columns: [...labelColumns(figures), ...more], rows, ...rest }
}

/** A sweep by its rates, although some between were tried last; others as they were run. */
function inOrder({ stages, sweep }: BenchFigures): readonly StageFigures[] {
  const rate = ({ load }: StageFigures): number => (load.kind === 'rate' ? load.perSecond : 0)
  return sweep ? stages.toSorted((a, b) => rate(a) - rate(b)) : stages
}

function mainTable(figures: BenchFigures): ReportTable {
  return stageTable(
    figures,
    'Latency from the intended send time, and throughput',
    columns(
      ['requests', 0],
      ['missed', 0],
      ['TTFT p50 s', 3, 1e-3],
      ['p90', 3, 1e-3],
      ['p99', 3, 1e-3],
      ['ITL p99 ms', 1],
      ['TPOT p50', 1],
      ['E2E p50 s', 2, 1e-3],
      ['good %', 1, 100],
      ['good/s', 2],
      ['output tok/s', 0],
      ['lag p99 ms', 1],
      'verdict',
    ),
    ({ keptRate, verdict, requests, perSecond, goodput, ttftMs, itlMs, tpotMs, e2eMs, lagMs }) => [
      requests.all,
      requests.all - requests.done,
      ttftMs.p50,
      ttftMs.p90,
      ttftMs.p99,
      itlMs.p99,
      tpotMs.p50,
      e2eMs.p50,
      goodput.share,
      goodput.perSecond,
      perSecond.outputTokens,
      lagMs.p99,
      keptRate ? verdict : 'bench was late',
    ],
    {
      note:
        `good: within ${objectives(figures.slo)}; missed: refused, failed, timed out or not ` +
        'sent, and never good; lag: by how much the bench itself sent late',
    },
  )
}

function requestTable(figures: BenchFigures): ReportTable {
  return stageTable(
    figures,
    'What became of the requests',
    columns(
      ['requests', 0],
      ['done', 0],
      ['refused', 0],
      ['failed', 0],
      ['timed out', 0],
      ['not sent', 0],
      ['done/s', 2],
      ['total tok/s', 0],
      ['cached %', 1, 100],
      ['ITL p50 ms', 1],
      ['E2E p99 s', 2, 1e-3],
      'why not done',
    ),
    ({ requests, perSecond, tokens, causes, itlMs, e2eMs }) => [
      requests.all,
      requests.done,
      requests.refused,
      requests.failed,
      requests.timedOut,
      requests.unsent,
      perSecond.requests,
      perSecond.totalTokens,
      tokens.prompt > 0 ? tokens.cached / tokens.prompt : null,
      itlMs.p50,
      e2eMs.p99,
      Object.entries(causes)
        .map(([cause, count]) => `${cause}: ${count}`)
        .join(', ') || null,
    ],
    { pageOnly: true },
  )
}

function taskTable(figures: BenchFigures): ReportTable {
  return stageTable(
    figures,
    'Tasks, from their start to their last answer, pauses between calls included',
    columns(
      ['tasks', 0],
      ['completed', 0],
      ['failed', 0],
      ['calls', 0],
      ['p50 s', 1, 1e-3],
      ['p90', 1, 1e-3],
      ['max', 1, 1e-3],
    ),
    ({ tasks }) => [
      tasks.all,
      tasks.completed,
      tasks.failed,
      tasks.calls,
      tasks.taskMs.p50,
      tasks.taskMs.p90,
      tasks.taskMs.max,
    ],
  )
}

function comparisonTable({ comparisons, urls }: BenchFigures): ReportTable {
  const names = Object.keys(comparisons[0]!.ratios)
  return {
    kind: 'table',
    title: `${shortUrl(urls[1]!)} over ${shortUrl(urls[0]!)}`,
    columns: columns('load', ['rounds', 0], ...names.map((name) => [name, 2] as const), [
      'good, points',
      1,
      100,
    ]),
    rows: comparisons.map(({ load, rounds, ratios, goodShare }: TargetComparison) => [
      loadText(load),
      rounds,
      ...names.map((name) => ratios[name]!),
      goodShare,
    ]),
    note: 'Ratios, in brackets the 95 % interval over rounds, paired; good in percentage points.',
  }
}

function lagTable(figures: BenchFigures): ReportTable {
  return stageTable(
    figures,
    'The bench itself: how late it sent',
    columns(
      ['sent', 0],
      ['lag p50 ms', 2],
      ['p90', 2],
      ['p99', 2],
      ['max', 2],
      'in time',
      ['open, mean', 1],
      ['most', 0],
      ['drain s', 1, 1e-3],
    ),
    ({ lagMs, keptRate, inFlight, drainMs }) => [
      lagMs.count,
      lagMs.p50,
      lagMs.p90,
      lagMs.p99,
      lagMs.max,
      keptRate ? 'yes' : 'no',
      inFlight.mean,
      inFlight.most,
      drainMs,
    ],
    {
      note:
        `in time: 90 % of the requests left within ${lagMsMax} ms of their time, and none stayed ` +
        'unsent',
      pageOnly: true,
    },
  )
}

function methodTexts(figures: BenchFigures): ReportPart[] {
  const { traffic, stages, model, api, stream, sweep, kneeRule, quantiles } = figures
  const [first] = stages
  const texts = [
    `Traffic: ${traffic}. Model ${model}, ${api} API, ${stream ? 'streamed' : 'not streamed'}.`,
    first === undefined
      ? 'No stage was run.'
      : `The first ${first.warmUpMs / 1_000} s of each stage are warm-up and in no figure. ` +
        'Every time counts from when the request was to be sent, whatever the server did. ' +
        'Throughput is what came while tasks began, whoever asked for it.',
    `Percentiles are ${quantiles}.`,
  ]
  if (sweep) texts.push(kneeRule)
  return texts.map((text) => ({ kind: 'text', text }))
}
