/**
 * The gateway's CPU time per request and per SSE event beside nginx and HAProxy, before the same
 * trivial engines, in one run. Linux; `npm run bench:gateway`. Proxies run on core 0, engines and
 * load on core 1. Absolute figures drift with the machine: the ratios are what is meant.
 */
import { connect, type Socket } from 'node:net'
import { textTable } from '../src/commands/text-table.ts'
import { answering, type RunningProxy, spawnPinned, startProxy, stopped } from './proxies.ts'

export interface GatewayBenchSize {
  readonly proxies: readonly string[]
  readonly requests: Readonly<Record<string, number>>
  readonly streams: number
  readonly rounds: number
}

export interface GatewayBenchRow {
  readonly proxy: string
  /** Microseconds of CPU per request by body size; least of the rounds. */
  readonly requestMicros: Readonly<Record<string, number>>
  /** Events of paced streams per CPU second; best of the rounds. */
  readonly eventsPerCpuSecond: number
  readonly failures: number
}

export const fullSize: GatewayBenchSize = {
  proxies: ['nginx', 'haproxy', 'warmpath'],
  requests: { '1 KB': 12_000, '32 KB': 6_000, '128 KB': 3_000 },
  streams: 192,
  rounds: 3,
}

const bytesOf: Readonly<Record<string, number>> = {
  '1 KB': 1_024,
  '32 KB': 32_768,
  '128 KB': 131_072,
}
const vocabulary = ['the', 'file', 'returns', 'error', 'when', 'path\\n', 'is']
const connections = 16
const streamsAtOnce = 48
const eventsPerStream = 200
const engineGapMs = 5

export async function gatewayBench(size: GatewayBenchSize, firstPort: number) {
  const engines = [0, 1, 2, 3].map((i) => firstPort + i)
  const paced = [4, 5, 6, 7].map((i) => firstPort + i)
  const stub = new URL('stub-engine.ts', import.meta.url).pathname
  const atOnce = spawnPinned(1, process.execPath, [stub, ...engines.map(String)])
  const slow = spawnPinned(1, process.execPath, [stub, ...paced.map(String)], {
    STUB_GAP_MS: String(engineGapMs),
  })
  const rows: GatewayBenchRow[] = []
  try {
    await Promise.all(
      [...engines, ...paced].map((port) => answering(`http://127.0.0.1:${port}/health`)),
    )
    for (const [i, name] of size.proxies.entries()) {
      const row = await measured(name, firstPort + 10 + 2 * i, engines, paced, size)
      if (row !== null) rows.push(row)
    }
  } finally {
    await Promise.all([stopped(atOnce), stopped(slow)])
  }
  return rows
}

async function measured(
  name: string,
  port: number,
  engines: readonly number[],
  paced: readonly number[],
  size: GatewayBenchSize,
): Promise<GatewayBenchRow | null> {
  const proxy = await startProxy(name, port, engines)
  const streamer = await startProxy(name, port + 1, paced)
  if (proxy === null || streamer === null) return null
  const requestMicros: Record<string, number> = {}
  let eventsPerCpuSecond = 0
  let failures = 0
  for (let round = 0; round < size.rounds; round++) {
    for (const [label, count] of Object.entries(size.requests)) {
      const run = await cpuOf(proxy, () => requests(port, bodies(bytesOf[label]!, false), count))
      failures += run.failures
      const micros = (run.cpuSeconds * 1e6) / count
      requestMicros[label] = Math.min(requestMicros[label] ?? Number.POSITIVE_INFINITY, micros)
    }
    const run = await cpuOf(streamer, () =>
      requests(port + 1, bodies(1_024, true), size.streams, streamsAtOnce),
    )
    failures += run.failures
    const rate = (size.streams * eventsPerStream) / Math.max(run.cpuSeconds, 1e-3)
    eventsPerCpuSecond = Math.max(eventsPerCpuSecond, rate)
  }
  await Promise.all([proxy.stop(), streamer.stop()])
  return { proxy: name, requestMicros, eventsPerCpuSecond, failures }
}

async function cpuOf(
  proxy: RunningProxy,
  run: () => Promise<number>,
): Promise<{ readonly cpuSeconds: number; readonly failures: number }> {
  const before = proxy.cpuSeconds()
  const failures = await run()
  return { cpuSeconds: proxy.cpuSeconds() - before, failures }
}

/** Agent-like bodies: a system prompt that all share, then messages of their own. */
function bodies(bytes: number, stream: boolean): Buffer[] {
  return Array.from({ length: 32 }, (_, i) => {
    const words = (seed: number, length: number): string => {
      let text = ''
      for (let n = 0; text.length < length; n++) {
        text += `${vocabulary[(seed * 31 + n * n) % vocabulary.length]} `
      }
      return text.slice(0, length).replaceAll('\\n', '\n')
    }
    const messages = [{ role: 'system', content: words(1, bytes / 4) }]
    const step = Math.max(100, bytes / 24)
    const size = () => JSON.stringify({ model: 'm', messages, max_tokens: 200, stream }).length
    for (let turn = 0; size() < bytes - step; turn++) {
      const role = turn % 2 === 0 ? 'user' : 'assistant'
      messages.push({ role, content: words(100 + i * 50 + turn, step) })
    }
    return Buffer.from(JSON.stringify({ model: 'm', messages, max_tokens: 200, stream }))
  })
}

/** Sends `count` requests over some connections, one after the other on each; the failures. */
async function requests(
  port: number,
  payloads: readonly Buffer[],
  count: number,
  atOnce = connections,
): Promise<number> {
  let next = 0
  let failures = 0
  const worker = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    while (next < count) {
      const payload = payloads[next++ % payloads.length]!
      if (!(await exchange(socket, payload))) failures++
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return failures
}

/** One request; true when a whole answer of status 200 came back. */
function exchange(socket: Socket, payload: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    let text = ''
    let ok = false
    const finish = (whole: boolean): void => {
      socket.off('data', onData)
      socket.off('close', onClose)
      resolve(whole && ok)
    }
    const onClose = (): void => finish(false)
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('latin1')
      if (!ok) ok = text.startsWith('HTTP/1.1 200')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /content-length: *(\d+)/i.exec(text.slice(0, end))
      if (
        length === null ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length[1])
      ) {
        finish(true)
      } else if (length === null && text.length > 4_096) {
        // Only the head and the end matter of a stream.
        text = text.slice(0, end + 4) + text.slice(-16)
      }
    }
    socket.on('data', onData)
    socket.once('close', onClose)
    socket.write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n' +
        `content-length: ${payload.length}\r\n\r\n`,
    )
    socket.write(payload)
  })
}

export function renderGatewayBench(rows: readonly GatewayBenchRow[]): string {
  const base = rows[0]!
  const sizes = Object.keys(base.requestMicros)
  const header = [
    'proxy',
    ...sizes.flatMap((size) => [`${size} µs`, 'ratio']),
    'events/CPU s',
    'ratio',
  ]
  const lines = rows.map((row) => [
    row.proxy,
    ...sizes.flatMap((size) => {
      const micros = row.requestMicros[size]!
      return [micros.toFixed(0), (micros / base.requestMicros[size]!).toFixed(2)]
    }),
    row.eventsPerCpuSecond.toFixed(0),
    (row.eventsPerCpuSecond / base.eventsPerCpuSecond).toFixed(2),
  ])
  return textTable(header, lines)
}

if (import.meta.main) {
  const rows = await gatewayBench(fullSize, 20_100)
  process.stdout.write(
    `CPU per request and SSE events per CPU second; ratios to ${rows[0]?.proxy}\n`,
  )
  process.stdout.write(`${renderGatewayBench(rows)}\n`)
  const failed = rows.reduce((sum, row) => sum + row.failures, 0)
  process.stdout.write(`${failed} requests failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
