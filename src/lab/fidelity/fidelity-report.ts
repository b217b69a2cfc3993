/** Published beside simulated. */
import type { Plot } from '../report/plot-spec.ts'
import type { Cell, Provenance, Report, ReportTable } from '../report/report.ts'
import { ladderArms } from './published.ts'
import { errorShare, errorShareMax, type Fidelity, type LadderRow } from './run-fidelity.ts'

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
      {
        title: 'Coding agents',
        parts: [agentsTable(fidelity), { kind: 'text', text: unfitted }],
      },
    ],
  }
}

const fitted =
  'The step-time coefficients of this profile were fitted by hand to this very table, so the ' +
  'agreement is a fit and no proof. Each stage runs by itself behind the warm-up, and its tokens ' +
  'are divided by its time with the drain, as the load generator does it.'

const unfitted =
  'Here nothing was fitted: prefill speed is measured, the other coefficients are derived from ' +
  'the hardware, the KV memory is assumed. How many requests a session makes is taken to be ' +
  'twenty. Lengths are drawn anew for each seed, and sessions are few: seeds differ much. First ' +
  'tokens of cached prompts come far too early: sending and tokenising 160,000 tokens is not ' +
  'modelled for this stack. At 80 sessions contexts outgrow the assumed memory; the page gives ' +
  'only a peak in round figures there, and names offloading to host memory without its size.'

function summaryOf(fidelity: Fidelity): string {
  const stages = fidelity.ladder.filter(({ backlogged }) => !backlogged)
  const within = stages.filter(isWithin).length
  const all = fidelity.ladder.filter(isWithin).length
  const percent = Math.round(errorShareMax * 100)
  return (
    `Throughput is within ${percent} % of what was published in ${within} ` +
    `of ${stages.length} stages that are not backlogged, and in ${all} of all ` +
    `${fidelity.ladder.length}.`
  )
}

function isWithin({ outputPerSecond }: LadderRow): boolean {
  return Math.abs(errorShare(outputPerSecond)) <= errorShareMax
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
    note: `seed ${fidelity.ladderSeed}`,
  }
}

function agentsTable({ agents, agentsSeeds }: Fidelity): ReportTable {
  return {
    kind: 'table',
    title: 'coding agents of 20 requests each',
    columns: [
      { title: 'policy' },
      { title: 'sessions', digits: 0 },
      { title: 'tokens/s published', digits: 0 },
      { title: 'simulated', digits: 0 },
      { title: 'lowest', digits: 0 },
      { title: 'highest', digits: 0 },
      { title: 'error %', digits: 1, factor: 100 },
      { title: 'TTFT p50 s published', digits: 2 },
      { title: 'simulated', digits: 2 },
    ],
    rows: agents.map((row): Cell[] => [
      row.arm,
      row.sessions,
      row.totalPerSecond.published,
      row.totalPerSecond.simulated,
      row.totalRange[0],
      row.totalRange[1],
      errorShare(row.totalPerSecond),
      row.ttftP50S.published,
      row.ttftP50S.simulated,
    ]),
    note: `means over seeds 1 to ${agentsSeeds.length}`,
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
