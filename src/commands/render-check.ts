import type { EndpointProbe } from '../sources/probe-endpoint.ts'
import { textTable } from './text-table.ts'

export interface CheckedEndpoint extends EndpointProbe {
  readonly url: string
}

/** Whether the router would send requests there. */
export function isUsable(endpoint: CheckedEndpoint): boolean {
  return endpoint.healthy && endpoint.models.length > 0
}

/** A row for each endpoint, then what is wrong with it and what to do, then a sum. */
export function renderCheck(endpoints: readonly CheckedEndpoint[]): string {
  const table = textTable(
    ['endpoint', 'usable', 'engine', 'version', 'models', 'kv tokens', 'health ms', 'scraped at'],
    endpoints.map((endpoint) => [
      endpoint.url,
      isUsable(endpoint) ? 'yes' : 'no',
      endpoint.reachable ? endpoint.engine : null,
      endpoint.version,
      endpoint.models.map((model) => model.id).join(',') || null,
      endpoint.kvCapacityTokens,
      endpoint.healthMs === null ? null : Math.round(endpoint.healthMs * 10) / 10,
      endpoint.scrapedAt?.slice(11, 19) ?? null,
    ]),
  )
  const remarks = endpoints.flatMap(({ url, problems, notes }) =>
    [...problems, ...notes].map((remark) => `${url}: ${remark}`),
  )
  const usable = endpoints.filter(isUsable).length
  const sum = `${usable} of ${endpoints.length} endpoints can be used.`
  return [table, '', ...remarks, ...(remarks.length === 0 ? [] : ['']), sum].join('\n')
}
