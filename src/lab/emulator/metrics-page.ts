import type { EngineModel } from '../engine/engine-model.ts'
import type { EngineHistograms } from './engine-histograms.ts'
import type { Faults } from './faults.ts'
import type { Histogram } from './histogram.ts'

/** What a scrape of one replica reads. */
export interface MetricsSource {
  readonly model: EngineModel
  readonly histograms: EngineHistograms
  readonly modelName: string
  readonly nowMs: number
  /** When the process started, seconds since 1970. */
  readonly startedS: number
  readonly asleep: boolean
  readonly finishedByReason: Readonly<Record<string, number>>
}

type Labels = Readonly<Record<string, string>>

/** A metric family: its lines are kept apart until faults have been applied. */
export interface MetricFamily {
  readonly name: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly samples: readonly { suffix: string; labels: Labels; value: number }[]
}

/** Collects families; every sample carries the labels that all series of the engine have. */
export class FamilyList {
  readonly families: MetricFamily[] = []
  readonly #common: Labels

  constructor(common: Labels) {
    this.#common = common
  }

  /** A family with one sample, or one for each value of a label. */
  add(
    type: 'gauge' | 'counter',
    name: string,
    values: number | readonly (readonly [Labels, number])[],
  ): void {
    const list = typeof values === 'number' ? [[{}, values] as const] : values
    const samples = list.map(([labels, value]) => ({
      suffix: '',
      labels: { ...this.#common, ...labels },
      value,
    }))
    this.families.push({ name, type, samples })
  }

  histogram(name: string, histogram: Histogram): void {
    const counts = histogram.cumulative()
    const total = counts[counts.length - 1]
    const buckets = counts.map((value, i) => {
      const bound = histogram.bounds[i]
      const le = bound === undefined ? '+Inf' : floatText(bound)
      return { suffix: '_bucket', labels: { ...this.#common, le }, value }
    })
    const labels = this.#common
    const sums = [
      { suffix: '_count', labels, value: total },
      { suffix: '_sum', labels, value: histogram.sum },
    ]
    this.families.push({ name, type: 'histogram', samples: [...buckets, ...sums] })
  }
}

/** Python's text of a float: integers keep their `.0`. */
function floatText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : `${value}`
}

function labelText(labels: Labels): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((name) => `${name}="${labels[name]}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** The Prometheus page, with what the faults leave out, rename or falsify. */
export function renderMetrics(
  families: readonly MetricFamily[],
  faults: Faults['metrics'] = {},
): string {
  if (faults.page !== undefined) return faults.page
  const lines: string[] = []
  for (const { name, type, samples } of families) {
    if (faults.without?.includes(name)) continue
    const shown = faults.rename?.[name] ?? name
    const replaced = faults.values?.[name]
    lines.push(`# HELP ${shown} Emulated.`, `# TYPE ${shown} ${type}`)
    for (const { suffix, labels, value } of samples) {
      lines.push(`${shown}${suffix}${labelText(labels)} ${replaced ?? floatText(value)}`)
    }
  }
  return `${lines.join('\n')}\n`
}
