/** Published beside simulated. */
import type { Plot } from '../report/plot-spec.ts'
import type { Cell, Provenance, Report, ReportPart, ReportTable } from '../report/report.ts'
import { errorShare, errorShareMax, isWithin, mean, type Pair } from './pair.ts'
import { publishedAgents } from './published-agents.ts'
import { publishedStages, type StagesExperiment, type StagesSeries } from './published-stages.ts'
import type { AgentsRow } from './run-agents.ts'
import type { Fidelity } from './run-fidelity.ts'
import type { StageRow } from './run-stages.ts'

export function fidelityReport(fidelity: Fidelity, provenance: Provenance): Report {
  return {
    title: 'Fidelity: what the simulator makes of published experiments',
    summary: summaryOf(fidelity),
    provenance,
    sections: [
      ...publishedStages.map((experiment) => ({
        title: `Requests that share prefixes, in stages of growing rate: ${experiment.title}`,
        parts: stagesParts(fidelity, experiment),
      })),
      { title: 'Coding agents', parts: agentsParts(fidelity) },
      {
        title: 'Coding agents, both routers with the same prompts',
        parts: [othersTable(fidelity), { kind: 'text', text: compared }],
      },
    ],
  }
}

const unfitted =
  'No throughput was fitted here: prefill speed is measured, the other coefficients are derived ' +
  'from the hardware, but for the time per sequence in a step and the ingress per token, which ' +
  'were fitted to the published times per token and to first tokens at 5 and 10 sessions. The ' +
  'sessions are those of the published seeds, sent as the load generator sends them.'

const compared =
  'Simulated only. The page compares runs with other prompts and other memory. Here both routers ' +
  'get the prompts of the same seed, each with its memory; how far apart seeds lie is how much a ' +
  'single run can say.'

function summaryOf({ stages, agents }: Fidelity): string {
  const flowing = stages.filter(({ backlogged }) => !backlogged)
  const within = (pairs: readonly Pair[]): string =>
    `${pairs.filter(isWithin).length} of ${pairs.length}`
  const stagePairs = flowing.map(({ tokensPerSecond }) => tokensPerSecond)
  const agentsPairs = agents.map(({ totalPerSecond }) => totalPerSecond)
  const percent = Math.round(errorShareMax * 100)
  return (
    `Throughput is within ${percent} % of what was published in ${within(stagePairs)} stages ` +
    `that are not backlogged, and in ${within(agentsPairs)} runs of coding agents.`
  )
}

function stagesParts(fidelity: Fidelity, experiment: StagesExperiment): ReportPart[] {
  const rowsOf = ({ title }: StagesSeries): StageRow[] =>
    fidelity.stages.filter((row) => row.experiment === experiment.title && row.series === title)
  const seeds = `means over seeds ${fidelity.stageSeeds.join(', ')}`
  const { series, note } = experiment
  const tables = series.map((one, i) =>
    stagesTable(
      experiment,
      one.title,
      rowsOf(one),
      i + 1 < series.length ? seeds : `${seeds}. ${note}`,
    ),
  )
  return [...tables, stagesPlot(experiment, rowsOf)]
}

const countedTitles = { outputTokens: 'output tokens/s', totalTokens: 'tokens/s' } as const

function stagesTable(
  { title, counted }: StagesExperiment,
  series: string,
  rows: readonly StageRow[],
  note: string,
): ReportTable {
  return {
    kind: 'table',
    title: `${title}: ${series}`,
    columns: [
      { title: 'rate/s', digits: 0 },
      { title: `${countedTitles[counted]} published`, digits: 0 },
      { title: 'simulated', digits: 0 },
      { title: 'error %', digits: 1, factor: 100 },
      { title: 'TTFT mean s published', digits: 2 },
      { title: 'simulated', digits: 2 },
      { title: '' },
    ],
    rows: rows.map(({ perSecond, tokensPerSecond, ttftMeanS, backlogged }): Cell[] => [
      perSecond,
      tokensPerSecond.published,
      tokensPerSecond.simulated,
      errorShare(tokensPerSecond),
      ttftMeanS.published,
      ttftMeanS.simulated,
      backlogged ? 'backlogged' : '',
    ]),
    note,
  }
}

function agentsParts({ agents }: Fidelity): ReportPart[] {
  const tables = publishedAgents.map(({ title, note }) => {
    return agentsTable(
      title,
      note,
      agents.filter(({ series }) => series === title),
    )
  })
  return [...tables, { kind: 'text', text: unfitted }, agentsPlot(agents), firstTokenPlot(agents)]
}

function agentsTable(title: string, note: string, rows: readonly AgentsRow[]): ReportTable {
  return {
    kind: 'table',
    title,
    columns: [
      { title: 'sessions', digits: 0 },
      { title: 'tokens/s published', digits: 0 },
      { title: 'simulated', digits: 0 },
      { title: 'error %', digits: 1, factor: 100 },
      { title: 'TTFT p50 s published', digits: 2 },
      { title: 'simulated', digits: 2 },
      { title: 'p90 s published', digits: 1 },
      { title: 'simulated', digits: 1 },
      { title: 'TPOT p50 ms published', digits: 1 },
      { title: 'simulated', digits: 1 },
    ],
    rows: rows.map((row): Cell[] => [
      row.sessions,
      row.totalPerSecond.published,
      row.totalPerSecond.simulated,
      errorShare(row.totalPerSecond),
      row.ttftP50S.published,
      row.ttftP50S.simulated,
      row.ttftP90S.published,
      row.ttftP90S.simulated,
      row.tpotP50Ms.published,
      row.tpotP50Ms.simulated,
    ]),
    note,
  }
}

function othersTable({ others }: Fidelity): ReportTable {
  const rows = others.map(({ seed, service, router }): Cell[] => [
    `${seed}`,
    service,
    router,
    router / service,
  ])
  const middle = [
    'mean',
    mean(others.map((one) => one.service)),
    mean(others.map((one) => one.router)),
    mean(others.map((one) => one.router / one.service)),
  ]
  return {
    kind: 'table',
    title: '40 sessions, by the seed of the load generator',
    columns: [
      { title: 'seed' },
      { title: 'service tokens/s', digits: 0 },
      { title: 'router tokens/s', digits: 0 },
      { title: 'ratio', digits: 2 },
    ],
    rows: [...rows, middle],
  }
}

function stagesPlot(
  { series, counted }: StagesExperiment,
  rowsOf: (series: StagesSeries) => readonly StageRow[],
): Plot {
  const points = (one: StagesSeries, which: keyof Pair) =>
    rowsOf(one).map((row) => ({ x: row.perSecond, y: row.tokensPerSecond[which] }))
  return {
    kind: 'plot',
    plot: 'line',
    title: `Throughput, ${countedTitles[counted]}`,
    x: { label: 'requests per second' },
    y: { label: countedTitles[counted] },
    series: series.flatMap((one) => [
      { name: `${one.title}, published`, points: points(one, 'published'), dashed: true },
      { name: `${one.title}, simulated`, points: points(one, 'simulated') },
    ]),
  }
}

function agentsPlot(agents: readonly AgentsRow[]): Plot {
  return {
    kind: 'plot',
    plot: 'line',
    title: 'Tokens per second',
    x: { label: 'sessions' },
    y: { label: 'tokens/s' },
    series: seriesOf(agents, ({ totalPerSecond }) => totalPerSecond),
  }
}

function firstTokenPlot(agents: readonly AgentsRow[]): Plot {
  return {
    kind: 'plot',
    plot: 'line',
    title: 'Time to first token, median',
    x: { label: 'sessions' },
    y: { label: 'TTFT p50 s', scale: 'log' },
    series: seriesOf(agents, ({ ttftP50S }) => ttftP50S),
  }
}

function seriesOf(agents: readonly AgentsRow[], pairOf: (row: AgentsRow) => Pair) {
  return publishedAgents.flatMap(({ title }) => {
    const rows = agents.filter(({ series }) => series === title)
    const points = (which: keyof Pair) =>
      rows.map((row) => ({ x: row.sessions, y: pairOf(row)[which] }))
    return [
      { name: `${title}, published`, points: points('published'), dashed: true },
      { name: `${title}, simulated`, points: points('simulated') },
    ]
  })
}
