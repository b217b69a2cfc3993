import { randomExponential, randomNormal, seededRandom } from '../../src/base/random.ts'
import type { Plot } from '../../src/lab/report/plot-spec.ts'
import type { Report } from '../../src/lab/report/report.ts'

/** Made-up figures, with every kind of part and plot. `name` is put wherever a text can stand. */
export function sampleReport(name: string): Report {
  const random = seededRandom(7)
  return {
    title: `Sample ${name}`,
    summary: `Made up, to see what a report looks like: ${name} needs 41 % less time.`,
    provenance: {
      version: '0.1.0',
      command: `warmpath bench http://127.0.0.1:8000 --note '${name}'`,
      date: '2026-01-02T03:04:05Z',
      seeds: [1, 2, 3],
      traceHash: 'c0ffee00c0ffee00',
      device: `made up, ${name}`,
      simulated: true,
    },
    sections: [
      {
        title: `Figures of ${name}`,
        parts: [
          { kind: 'text', text: `A paragraph about ${name}.` },
          {
            kind: 'table',
            title: `Latency of ${name}`,
            columns: [
              { title: name },
              { title: 'requests', digits: 0 },
              { title: 'TTFT p50 s', digits: 2, factor: 0.001 },
              { title: 'good %', digits: 1, factor: 100 },
              { title: 'ratio', digits: 2 },
            ],
            rows: [
              ['round-robin', 12_031, 17_391.25, 0.4312, null],
              [name, 12_031, 2_474, 0.9731, { value: 0.142, low: 0.131, high: 0.155 }],
              ['nothing', 0, Number.NaN, null, Number.POSITIVE_INFINITY],
            ],
            note: `Half of it is made up, the rest is ${name}.`,
          },
        ],
      },
      { title: 'Plots', parts: samplePlots(name, random) },
    ],
  }
}

type Numbers = ReturnType<typeof seededRandom>

function samplePlots(name: string, random: Numbers): Plot[] {
  return [...xyPlots(name, random), ...rowPlots(name)]
}

function xyPlots(name: string, random: Numbers): Plot[] {
  const rates = [1, 2, 4, 8, 16, 32]
  const names = ['round-robin', 'least-request', name, 'session-affinity']
  const dots = (mean: number): { x: number; y: number }[] =>
    Array.from({ length: 300 }, () => {
      const x = mean * Math.exp(0.8 * randomNormal(random))
      return { x, y: x * Math.exp(0.3 * randomNormal(random)) }
    })
  const exponential = (mean: number): number[] =>
    Array.from({ length: 1_000 }, () => randomExponential(random, mean))
  return [
    {
      kind: 'plot',
      plot: 'line',
      title: `Time to first token against rate, ${name}`,
      x: { label: 'requests/s', scale: 'log' },
      y: { label: 'TTFT p90, s', scale: 'log', factor: 0.001 },
      series: names.map((series, i) => ({
        name: series,
        dashed: i === 3,
        points: rates.map((x, n) => {
          const y = 300 / (i + 1) + x ** (2.2 - 0.3 * i) * 10
          if (i === 1 && n === 3) return { x, y: null }
          return i > 1 ? { x, y } : { x, y, low: y * 0.7, high: y * 1.4 }
        }),
      })),
      rules: [
        { axis: 'y', at: 2_000, label: `SLO 2 s, ${name}` },
        { axis: 'x', at: 20, label: 'knee' },
      ],
      note: `Bands: 95 % intervals over ${name}.`,
    },
    {
      kind: 'plot',
      plot: 'scatter',
      title: 'Predicted against actual',
      x: { label: 'actual TTFT, s', scale: 'log', factor: 0.001 },
      y: { label: 'predicted TTFT, s', scale: 'log', factor: 0.001 },
      diagonal: true,
      series: [
        { name: 'gpu-a', points: dots(400) },
        { name, points: dots(1_500) },
      ],
    },
    {
      kind: 'plot',
      plot: 'cdf',
      title: 'End-to-end time',
      x: { label: 's', factor: 0.001 },
      series: names.map((series, i) => ({ name: series, values: exponential(1_000 * (i + 1)) })),
    },
  ]
}

function rowPlots(name: string): Plot[] {
  const names = ['round-robin', 'least-request', name, 'session-affinity']
  return [
    {
      kind: 'plot',
      plot: 'bars',
      title: 'Goodput',
      categories: ['chat', 'code generation, 80 sessions', name],
      value: { label: 'share that met every objective, %', factor: 100 },
      series: names.map((series, i) => {
        const values = [0.9 - 0.1 * i, 0.5 + 0.1 * i, 0.7]
        const [low, high] = [values.map((v) => v - 0.05), values.map((v) => v + 0.07)]
        return { name: series, values, low, high }
      }),
    },
    {
      kind: 'plot',
      plot: 'bars',
      title: 'Where the time went',
      stacked: true,
      categories: ['task 1', 'task 2', name],
      value: { label: 's', factor: 0.001 },
      series: ['held', 'queue', 'prefill', 'decode', 'tool', 'a', 'b', name].map((kind, i) => ({
        name: kind,
        values: [1_000 * (i + 1), 9_000 - 1_000 * i, i === 3 ? null : 2_000],
      })),
    },
    {
      kind: 'plot',
      plot: 'heatmap',
      title: 'Queue by replica',
      x: { label: 'time, s', factor: 0.001 },
      start: 0,
      step: 10_000,
      value: { label: 'requests waiting' },
      rows: ['gpu-a:8000', 'gpu-b:8000', name].map((row, i) => ({
        name: row,
        values: Array.from({ length: 60 }, (_, n) =>
          n === 5 ? null : Math.max(0, Math.round(12 * Math.sin(n / 9 + i) + i)),
        ),
      })),
    },
    {
      kind: 'plot',
      plot: 'gantt',
      title: 'Slowest tasks',
      x: { label: 'since the task began, s', factor: 0.001 },
      kinds: ['held', 'queue', 'prefill', 'decode', 'tool'],
      rows: ['session 1', 'session 2', name].map((row, i) => ({
        name: row,
        spans: Array.from({ length: 15 }, (_, n) => ({
          kind: ['held', 'queue', 'prefill', 'decode', 'tool'][n % 5]!,
          from: (n * 4 + i) * 1_000,
          to: (n * 4 + i + (n % 5 === 4 ? 4 : 3)) * 1_000,
        })),
      })),
    },
  ]
}
