/** Published beside simulated. */
import type { Plot } from '../report/plot-spec.ts'
import type { Cell, Provenance, Report, ReportPart, ReportTable } from '../report/report.ts'
import { errorShare, errorShareMax, isWithin, mean, type Pair } from './pair.ts'
import { publishedAgents } from './published-agents.ts'
import { ladderArms } from './published-ladder.ts'
import type { AgentsRow } from './run-agents.ts'
import type { Fidelity } from './run-fidelity.ts'

export function fidelityReport(fidelity: Fidelity, provenance: Provenance): Report {
  return {
    title: 'Fidelity: what the simulator makes of published experiments',
    summary: summaryOf(fidelity),
    provenance,
    sections: [
      {
        title: 'Requests that share prefixes, in stages of growing rate',
        parts: [
          ...ladderArms.map((arm) => ladderTable(fidelity, arm)),
          { kind: 'text', text: fitted },
          ladderPlot(fidelity),
        ],
      },
      { title: 'Coding agents', parts: agentsParts(fidelity) },
      {
        title: 'Coding agents, both routers with the same prompts',
        parts: [othersTable(fidelity), { kind: 'text', text: compared }],
      },
    ],
  }
}

const fitted =
  'The step-time coefficients of this profile were fitted by hand to this very table, so the ' +
  'agreement is a fit and no proof. Each stage runs by itself behind the warm-up, and its tokens ' +
  'are divided by its time with the drain, as the load generator does it.'

const unfitted =
  'No throughput was fitted here: prefill speed is measured, the other coefficients are derived ' +
  'from the hardware, but for the time per sequence in a step and the ingress per token, which ' +
  'were fitted to the published times per token and to first tokens at 5 and 10 sessions. The ' +
  'sessions are those of the published seeds, sent as the load generator sends them.'

const compared =
  'Simulated only. The page compares runs with other prompts and other memory. Here both routers ' +
  'get the prompts of the same seed, each with its memory; how far apart seeds lie is how much a ' +
  'single run can say.'

function summaryOf({ ladder, agents }: Fidelity): string {
  const stages = ladder.filter(({ backlogged }) => !backlogged)
  const within = (rows: readonly { readonly pair: Pair }[]): string =>
    `${rows.filter(({ pair }) => isWithin(pair)).length} of ${rows.length}`
  const ladderPairs = stages.map(({ outputPerSecond }) => ({ pair: outputPerSecond }))
  const agentsPairs = agents.map(({ totalPerSecond }) => ({ pair: totalPerSecond }))
  const percent = Math.round(errorShareMax * 100)
  return (
    `Throughput is within ${percent} % of what was published in ${within(ladderPairs)} stages ` +
    `that are not backlogged, and in ${within(agentsPairs)} runs of coding agents.`
  )
}

function ladderTable(fidelity: Fidelity, arm: string): ReportTable {
  const rows = fidelity.ladder.filter((row) => row.arm === arm)
  return {
    kind: 'table',
    title: arm,
    columns: [
      { title: 'rate/s', digits: 0 },
      { title: 'output tokens/s published', digits: 0 },
      { title: 'simulated', digits: 0 },
      { title: 'error %', digits: 1, factor: 100 },
      { title: 'TTFT mean s published', digits: 2 },
      { title: 'simulated', digits: 2 },
      { title: '' },
    ],
    rows: rows.map(({ perSecond, outputPerSecond, ttftMeanS, backlogged }): Cell[] => [
      perSecond,
      outputPerSecond.published,
      outputPerSecond.simulated,
      errorShare(outputPerSecond),
      ttftMeanS.published,
      ttftMeanS.simulated,
      backlogged ? 'backlogged' : '',
    ]),
    note: `means over seeds ${fidelity.ladderSeeds.join(', ')}`,
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

function ladderPlot({ ladder }: Fidelity): Plot {
  const points = (arm: string, which: 'published' | 'simulated') =>
    ladder
      .filter((row) => row.arm === arm)
      .map((row) => ({ x: row.perSecond, y: row.outputPerSecond[which] }))
  return {
    kind: 'plot',
    plot: 'line',
    title: 'Output tokens per second',
    x: { label: 'requests per second' },
    y: { label: 'output tokens/s' },
    series: ladderArms.flatMap((arm) => [
      { name: `${arm}, published`, points: points(arm, 'published'), dashed: true },
      { name: `${arm}, simulated`, points: points(arm, 'simulated') },
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
