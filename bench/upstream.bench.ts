/**
 * CPU of one request, and of one SSE event, through the upstream client, undici and node:http, as
 * ratios within one run. `node bench/upstream.bench.ts`
 */
import { once } from 'node:events'
import http from 'node:http'
import { Worker } from 'node:worker_threads'
import { Agent as UndiciAgent, request as undiciRequest } from 'undici'
import type { UpstreamHandler } from '../src/io/http1/upstream.ts'
import { UpstreamPool } from '../src/io/http1/upstream-pool.ts'
import { realTimeScheduler } from '../src/io/real-time.ts'

export interface UpstreamBenchSize {
  readonly requests: number
  readonly streams: number
  readonly eventsPerStream: number
  readonly rounds: number
}

export interface UpstreamBenchResult {
  readonly client: string
  /** CPU of this process (user and system), median of the rounds. */
  readonly requestMicros: number
  readonly eventMicros: number
}

interface Client {
  readonly name: string
  /** Sends one POST of 1 KB there and reads the whole answer; its length in bytes. */
  post(path: string): Promise<number>
  close(): void
}

const concurrency = 32
const body = Buffer.from(JSON.stringify({ model: 'm', prompt: 'x'.repeat(1_000) }))
const fields = { 'content-type': 'application/json', authorization: 'Bearer sk-1234567890' }
const flat = Object.entries(fields).flat()

function ownClient(origin: string): Client {
  const pool = new UpstreamPool(origin, {}, realTimeScheduler())
  const post = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      let bytes = 0
      const handler: UpstreamHandler = {
        connected() {},
        headers() {},
        body(payload) {
          for (const piece of payload) bytes += piece.length
        },
        end: () => resolve(bytes),
        error: ({ cause, detail }) => reject(new Error(`${cause}: ${detail}`)),
      }
      const timeouts = { firstByteTimeoutMs: 300_000, idleTimeoutMs: 60_000 }
      pool.send({ method: 'POST', path, headers: flat, body: [body], ...timeouts }, handler)
    })
  return { name: 'warmpath', post, close: () => pool.close() }
}

function undiciClient(origin: string): Client {
  const dispatcher = new UndiciAgent({ connections: concurrency, pipelining: 1 })
  const post = async (path: string): Promise<number> => {
    const options = { method: 'POST', headers: fields, body, dispatcher } as const
    const response = await undiciRequest(origin + path, options)
    let bytes = 0
    for await (const piece of response.body) bytes += (piece as Buffer).length
    return bytes
  }
  return { name: 'undici request', post, close: () => void dispatcher.close() }
}

function nodeClient(origin: string): Client {
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency })
  const headers = { ...fields, 'content-length': body.length }
  const post = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        origin + path,
        { method: 'POST', agent, headers },
        (response) => {
          let bytes = 0
          response.on('data', (piece: Buffer) => {
            bytes += piece.length
          })
          response.on('end', () => resolve(bytes))
        },
      )
      request.on('error', reject)
      request.end(body)
    })
  return { name: 'node:http', post, close: () => agent.destroy() }
}

/** CPU microseconds of this thread for `count` calls, `concurrency` at a time. */
async function cpuMicros(client: Client, path: string, count: number): Promise<number> {
  let left = count
  const before = process.threadCpuUsage()
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      if ((await client.post(path)) === 0) throw new Error(`${client.name}: empty answer`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const used = process.threadCpuUsage(before)
  return used.user + used.system
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

export async function runUpstreamBench(size: UpstreamBenchSize): Promise<UpstreamBenchResult[]> {
  const { requests, streams, eventsPerStream, rounds } = size
  const file = new URL('./upstream-server.ts', import.meta.url)
  const worker = new Worker(file, { workerData: { eventsPerStream } })
  const [port] = (await once(worker, 'message')) as [number]
  const origin = `http://127.0.0.1:${port}`
  const clients = [ownClient(origin), undiciClient(origin), nodeClient(origin)]
  const measured = clients.map(() => ({ request: [] as number[], event: [] as number[] }))
  try {
    // The first round only warms up.
    for (let round = 0; round <= rounds; round++) {
      for (const [i, client] of clients.entries()) {
        const request = (await cpuMicros(client, '/plain', requests)) / requests
        const event = (await cpuMicros(client, '/stream', streams)) / (streams * eventsPerStream)
        if (round === 0) continue
        measured[i]!.request.push(request)
        measured[i]!.event.push(event)
      }
    }
  } finally {
    for (const client of clients) client.close()
    await worker.terminate()
  }
  return clients.map(({ name }, i) => ({
    client: name,
    requestMicros: median(measured[i]!.request),
    eventMicros: median(measured[i]!.event),
  }))
}

if (import.meta.main) {
  const size = { requests: 8_000, streams: 64, eventsPerStream: 200, rounds: 5 }
  const results = await runUpstreamBench(size)
  const own = results[0]!
  for (const { client, requestMicros, eventMicros } of results) {
    const ratio = `${(requestMicros / own.requestMicros).toFixed(2)}x`
    const eventRatio = `${(eventMicros / own.eventMicros).toFixed(2)}x`
    const perSecond = Math.round(1e6 / requestMicros)
    console.log(
      `${client.padEnd(15)} ${requestMicros.toFixed(1)} µs a request (${ratio}, ` +
        `${perSecond} a CPU second), ${eventMicros.toFixed(2)} µs an event (${eventRatio})`,
    )
  }
}
