import { fallbackCatalogue } from '../../src/observe/fallbacks.ts'
import type { MetricEntry } from '../../src/observe/metric-catalogue.ts'
import { metricCatalogue } from '../../src/observe/metric-catalogue.ts'

const head = `# Metrics

\`GET /metrics\` answers in the Prometheus text format. Times are in seconds. Label values are
bounded: names beyond the bound share the value \`other\`.
`

const fallbackHead = `## Fallbacks

The kinds of \`warmpath_fallbacks_total\`: ways in which the router goes on with less than it should
have.
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
  const fallbacks = Object.entries(fallbackCatalogue).map(
    ([kind, meaning]) => `- \`${kind}\`: ${meaning}`,
  )
  return `${[head, '## Families\n', ...sections, fallbackHead, fallbacks.join('\n')]
    .map((part) => part.trimEnd())
    .join('\n\n')}\n`
}
