import type { MetricEntry } from '../../src/observe/metric-catalogue.ts'
import { metricCatalogue } from '../../src/observe/metric-catalogue.ts'

const head = `# Metrics

\`GET /metrics\` answers in the Prometheus text format. Times are in seconds. Label values are bounded:
names beyond the bound share the value \`other\`.
`

/** `docs/reference/metrics.md`, from the metric catalogue. */
export function metricsPage(): string {
  const sections = Object.entries<MetricEntry>(metricCatalogue).map(([name, entry]) => {
    const { type, help, labels, buckets } = entry
    return [
      `### \`${name}\``,
      `A ${type}. ${help}`,
      labels.length === 0 ? null : `Labels: ${labels.map((label) => `\`${label}\``).join(', ')}.`,
      buckets === undefined ? null : `Buckets: ${buckets.join(', ')}.`,
    ]
      .filter((part) => part !== null)
      .join('\n\n')
  })
  return `${[head.trimEnd(), ...sections].join('\n\n')}\n`
}
