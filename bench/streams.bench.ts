/**
 * Thousands of paced streams at once: memory of the gateway per stream, and by how much it delays
 * an event, beside the same streams without it. `npm run bench:streams`. Linux; the limit on open
 * files must allow four times as many.
 */
import { connect } from 'node:net'
import { textTable } from '../src/commands/text-table.ts'
import { answering, spawnPinned, startProxy, stopped } from './proxies.ts'

export interface StreamsBenchSize {
  readonly streams: number
  readonly events: number
  readonly gapMs: number
}

export interface StreamsBenchRow {
  readonly way: string
  readonly events: number
  /** Streams that did not come whole. */
  readonly failures: number
  /** From the engine's write to the client's read, ms. */
  readonly delayP50Ms: number
  readonly delayP99Ms: number
  readonly cpuShare: number
  readonly kibPerStream: number
}

export const fullSize: StreamsBenchSize = { streams: 5_000, events: 40, gapMs: 400 }

/** New connections in one go; a listener's queue is finite. */
const openedAtOnce = 250

export async function streamsBench(size: StreamsBenchSize, firstPort: number) {
  const engines = [0, 1, 2, 3].map((i) => firstPort + i)
  const stub = new URL('stub-engine.ts', import.meta.url).pathname
  const child = spawnPinned(1, process.execPath, [stub, ...engines.map(String)], {
    STUB_GAP_MS: String(size.gapMs),
    STUB_EVENTS: String(size.events),
  })
  const rows: StreamsBenchRow[] = []
  try {
    await Promise.all(engines.map((port) => answering(`http://127.0.0.1:${port}/health`)))
    rows.push(await measured('direct', engines, size, null))
    const gateway = await startProxy('warmpath', firstPort + 10, engines)
    rows.push(await measured('warmpath', [firstPort + 10], size, gateway))
    await gateway!.stop()
  } finally {
    await stopped(child)
  }
  return rows
}

async function measured(
  way: string,
  ports: readonly number[],
  size: StreamsBenchSize,
  gateway: Awaited<ReturnType<typeof startProxy>>,
): Promise<StreamsBenchRow> {
  const delaysMs: number[] = []
  const rssBefore = gateway?.rssMib() ?? 0
  const cpuBefore = gateway?.cpuSeconds() ?? 0
  const startMs = performance.now()
  let open = 0
  let rssMost = 0
  const streams: Promise<boolean>[] = []
  for (let i = 0; i < size.streams; i++) {
    open++
    streams.push(stream(ports[i % ports.length]!, delaysMs).finally(() => open--))
    if (i % openedAtOnce === openedAtOnce - 1) await new Promise((r) => setTimeout(r, 50))
  }
  const sample = setInterval(() => {
    rssMost = Math.max(rssMost, gateway?.rssMib() ?? 0)
  }, 1_000)
  const whole = await Promise.all(streams)
  clearInterval(sample)
  const seconds = (performance.now() - startMs) / 1_000
  delaysMs.sort((a, b) => a - b)
  const at = (p: number): number => delaysMs[Math.ceil(p * delaysMs.length) - 1] ?? Number.NaN
  return {
    way,
    events: delaysMs.length,
    failures: whole.filter((ok) => !ok).length,
    delayP50Ms: at(0.5),
    delayP99Ms: at(0.99),
    cpuShare: ((gateway?.cpuSeconds() ?? 0) - cpuBefore) / seconds,
    kibPerStream: (Math.max(0, rssMost - rssBefore) * 1_024) / size.streams,
  }
}

const body = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'a question of about a line' }],
  stream: true,
})
const request =
  'POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n' +
  `content-length: ${body.length}\r\n\r\n${body}`

/** Reads one stream to its end; true when it came whole. */
function stream(port: number, delaysMs: number[]): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let done = false
    socket.on('data', (bytes: Buffer) => {
      const nowMs = performance.timeOrigin + performance.now()
      const text = bytes.toString('latin1')
      for (const [, sent] of text.matchAll(/"content":" (\d+\.\d+) "/g)) {
        delaysMs.push(nowMs - Number(sent))
      }
      if (!text.includes('[DONE]')) return
      done = true
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(done))
  })
}

export function renderStreamsBench(rows: readonly StreamsBenchRow[]): string {
  const columns = ['way', 'events', 'failures', 'delay p50 ms', 'p99 ms', 'CPU %', 'KiB per stream']
  return textTable(
    columns,
    rows.map((row) => [
      row.way,
      row.events,
      row.failures,
      row.delayP50Ms.toFixed(2),
      row.delayP99Ms.toFixed(2),
      (100 * row.cpuShare).toFixed(0),
      row.kibPerStream.toFixed(1),
    ]),
  )
}

if (import.meta.main) {
  const rows = await streamsBench(fullSize, 20_500)
  const { streams, gapMs } = fullSize
  process.stdout.write(`${streams} streams at once, an event every ${gapMs} ms on each\n`)
  process.stdout.write(`${renderStreamsBench(rows)}\n`)
  const added = rows[1]!.delayP99Ms - rows[0]!.delayP99Ms
  process.stdout.write(`\nadded at the 99th percentile: ${added.toFixed(2)} ms\n`)
  process.exitCode = rows.every((row) => row.failures === 0) ? 0 : 1
}
