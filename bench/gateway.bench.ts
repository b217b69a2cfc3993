/**
 * The gateway's CPU time per request and per SSE event beside nginx and HAProxy, before the same
 * trivial engines, in one run. Linux; `npm run bench:gateway`. Proxies run on core 0, engines and
 * load on core 1. Machines drift within minutes, so the proxies take turns in each round, and a
 * ratio is the median of those of the rounds.
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

/** What one proxy took in one kind of load: microseconds of CPU per request or event. */
export interface GatewayBenchCell {
  readonly medianMicros: number
  /** Median of this over the first proxy's, round by round. */
  readonly ratio: number
}

export interface GatewayBenchRow {
  readonly proxy: string
  /** By the size of the body, and `event` for paced streams. */
  readonly cells: Readonly<Record<string, GatewayBenchCell>>
  readonly failures: number
}

export const fullSize: GatewayBenchSize = {
  proxies: ['nginx', 'haproxy', 'warmpath'],
  requests: { '1 KB': 6_000, '32 KB': 3_000, '128 KB': 1_500 },
  streams: 96,
  rounds: 9,
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
/** Rounds of the same load beforehand: a router is compiled while it runs. */
const warmRounds = 3

export async function gatewayBench(size: GatewayBenchSize, firstPort: number) {
  const engines = [0, 1, 2, 3].map((i) => firstPort + i)
  const paced = [4, 5, 6, 7].map((i) => firstPort + i)
  const stub = new URL('stub-engine.ts', import.meta.url).pathname
  const atOnce = spawnPinned(1, process.execPath, [stub, ...engines.map(String)])
  const slow = spawnPinned(1, process.execPath, [stub, ...paced.map(String)], {
    STUB_GAP_MS: String(engineGapMs),
  })
  try {
    await Promise.all(
      [...engines, ...paced].map((port) => answering(`http://127.0.0.1:${port}/health`)),
    )
    const racers: Racer[] = []
    for (const [i, name] of size.proxies.entries()) {
      const racer = await Racer.start(name, firstPort + 10 + 2 * i, engines, paced)
      if (racer !== null) racers.push(racer)
    }
    const loads = { ...size.requests, event: size.streams }
    const warm = Math.min(warmRounds, size.rounds)
    for (let round = -warm; round < size.rounds; round++) {
      for (const [load, count] of Object.entries(loads)) {
        const inTurn = round % 2 === 0 ? racers : racers.toReversed()
        for (const racer of inTurn) await racer.run(load, count, round >= 0)
      }
    }
    await Promise.all(racers.map((racer) => racer.stop()))
    return racers.map((racer) => racer.row(racers[0]!))
  } finally {
    await Promise.all([stopped(atOnce), stopped(slow)])
  }
}

/** One proxy, before engines that answer at once, and a second of it before paced ones. */
class Racer {
  readonly #name: string
  readonly #port: number
  readonly #proxy: RunningProxy
  readonly #streamer: RunningProxy
  readonly #micros: Record<string, number[]> = {}
  #failures = 0

  private constructor(name: string, port: number, proxy: RunningProxy, streamer: RunningProxy) {
    this.#name = name
    this.#port = port
    this.#proxy = proxy
    this.#streamer = streamer
  }

  /** Null where the program is not installed. */
  static async start(
    name: string,
    port: number,
    engines: readonly number[],
    paced: readonly number[],
  ): Promise<Racer | null> {
    const proxy = await startProxy(name, port, engines)
    const streamer = await startProxy(name, port + 1, paced)
    return proxy === null || streamer === null ? null : new Racer(name, port, proxy, streamer)
  }

  async run(load: string, count: number, counts: boolean): Promise<void> {
    const streams = load === 'event'
    const [proxy, port] = streams ? [this.#streamer, this.#port + 1] : [this.#proxy, this.#port]
    const payloads = bodies(streams ? 1_024 : bytesOf[load]!, streams)
    const before = proxy.cpuSeconds()
    const failures = await requests(port, payloads, count, streams ? streamsAtOnce : connections)
    const micros = (proxy.cpuSeconds() - before) * 1e6
    this.#failures += failures
    if (!counts) return
    this.#micros[load] ??= []
    this.#micros[load].push(micros / (streams ? count * eventsPerStream : count))
  }

  row(base: Racer): GatewayBenchRow {
    const cells = Object.entries(this.#micros).map(([load, micros]) => {
      const ratio = median(micros.map((one, round) => one / base.#micros[load]![round]!))
      return [load, { medianMicros: median(micros), ratio }] as const
    })
    return { proxy: this.#name, cells: Object.fromEntries(cells), failures: this.#failures }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#proxy.stop(), this.#streamer.stop()])
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
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
  atOnce: number,
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
  const loads = Object.keys(rows[0]!.cells)
  const header = ['proxy', ...loads.flatMap((load) => [`${load} µs`, 'ratio'])]
  const lines = rows.map(({ proxy, cells }) => [
    proxy,
    ...loads.flatMap((load) => {
      const { medianMicros, ratio } = cells[load]!
      return [medianMicros.toFixed(1), ratio.toFixed(2)]
    }),
  ])
  return textTable(header, lines)
}

if (import.meta.main) {
  const rows = await gatewayBench(fullSize, 20_100)
  process.stdout.write(
    `CPU per request and per event of paced streams; ratios to ${rows[0]?.proxy}\n`,
  )
  process.stdout.write(`${renderGatewayBench(rows)}\n`)
  const failed = rows.reduce((sum, row) => sum + row.failures, 0)
  process.stdout.write(`${failed} requests failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}
