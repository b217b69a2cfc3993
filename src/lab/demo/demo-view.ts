/** What the demo shows, as text: two fleets alike, one beside the other. */

export interface ReplicaView {
  readonly url: string
  readonly routable: boolean
  readonly inFlight: number
  readonly queued: number
  readonly cachedTokens: number
  readonly kvCapacityTokens: number
}

export interface SideView {
  readonly policy: string
  readonly url: string
  readonly calls: number
  readonly errors: number
  readonly hitShare: number
  readonly ttftP50Ms: number
  readonly ttftP90Ms: number
  readonly callsPerMinute: number
  /** Sessions brought to their end. */
  readonly tasks: number
  readonly agents: number
  /** Requests that wait at the router. */
  readonly held: number
  /** Sessions that hold a place; null where nobody is ever held. */
  readonly places: number | null
  readonly replicas: readonly ReplicaView[]
}

const barCells = 12
const columnWidth = 46

/** @param elapsedS since the load began */
export function renderDemo(sides: readonly SideView[], elapsedS: number): string {
  const columns = sides.map(sideLines)
  const height = Math.max(...columns.map((column) => column.length))
  const rows: string[] = []
  for (let i = 0; i < height; i++) {
    rows.push(
      columns
        .map((column) => (column[i] ?? '').padEnd(columnWidth))
        .join('  ')
        .trimEnd(),
    )
  }
  const [baseline, ours] = sides
  const title = `Warmpath demo: the same agents on two emulated fleets, ${elapsedS.toFixed(0)} s`
  return [title, '', ...rows, '', verdict(baseline!, ours!), ''].join('\n')
}

function sideLines(side: SideView): string[] {
  return [
    side.policy.toUpperCase(),
    `${side.url}`,
    '',
    'replica   in flight       cached context',
    ...side.replicas.map(replicaLine),
    '',
    `first token  p50 ${seconds(side.ttftP50Ms)}   p90 ${seconds(side.ttftP90Ms)}`,
    `from cache   ${percent(side.hitShare)} of all prompt tokens`,
    `calls        ${side.calls}, ${side.callsPerMinute.toFixed(0)} a minute`,
    `tasks done   ${side.tasks} by ${side.agents} agents`,
    side.places === null
      ? 'waiting      in the engines’ queues'
      : `waiting      ${side.held} at the router, ${side.places} sessions hold a place`,
    `errors       ${side.errors}`,
  ]
}

function replicaLine(replica: ReplicaView, i: number): string {
  const name = `gpu-${i + 1}`.padEnd(8)
  if (!replica.routable) return `${name}  down`
  const load = bar(replica.inFlight / 8)
  const cached = bar(replica.cachedTokens / replica.kvCapacityTokens)
  return `${name}  ${load} ${String(replica.inFlight).padStart(2)}  ${cached}`
}

function bar(share: number): string {
  const full = Math.min(barCells, Math.round(share * barCells))
  return '█'.repeat(full) + '·'.repeat(barCells - full)
}

/** One sentence on what the two sides come to so far. */
export function verdict(baseline: SideView, ours: SideView): string {
  if (baseline.calls < 10 || ours.calls < 10) return 'The first calls are on their way.'
  const times = baseline.ttftP50Ms / Math.max(1, ours.ttftP50Ms)
  return (
    `${ours.policy}: first token ${times.toFixed(1)} times as soon at the median, ` +
    `${percent(ours.hitShare)} against ${percent(baseline.hitShare)} from cache, ` +
    `${ours.calls} against ${baseline.calls} calls and ${ours.tasks} against ${baseline.tasks} ` +
    'tasks done.'
  )
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
const seconds = (ms: number): string =>
  Number.isFinite(ms) ? `${(ms / 1_000).toFixed(2)} s` : '     –'
