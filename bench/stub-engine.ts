/**
 * A trivial engine for benchmarks, a process: `node bench/stub-engine.ts PORT…`. It answers health,
 * models and metrics; to anything else a fixed answer at once, or, for a body that asks for a
 * stream, `STUB_EVENTS` chunks of which one goes out every `STUB_GAP_MS`. Paced chunks carry the
 * time at which they were written, in ms since 1970.
 */
import { createServer, type Socket } from 'node:net'

const model = 'm'
const events = Number(process.env.STUB_EVENTS ?? 200)
const gapMs = Number(process.env.STUB_GAP_MS ?? 0)

const unary = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello from the stub engine.' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
})
const models = JSON.stringify({
  object: 'list',
  data: [{ id: model, object: 'model', created: 1_700_000_000, owned_by: 'vllm', parent: null }],
})
const metrics =
  'vllm:num_requests_running{model_name="m",engine="0"} 0\n' +
  'vllm:num_requests_waiting{model_name="m",engine="0"} 0\n' +
  'vllm:kv_cache_usage_perc{model_name="m",engine="0"} 0.1\n' +
  'process_start_time_seconds 1700000000\n'

const chunk = (delta: object, finish: string | null): string => {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  const id = 'chatcmpl-1'
  const json = JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model, choices })
  return framed(`data: ${json}\n\n`)
}
const framed = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const tokenChunk = Buffer.from(chunk({ content: ' token' }, null))
const lastChunks = Buffer.from(`${chunk({}, 'stop')}${framed('data: [DONE]\n\n')}0\r\n\r\n`)
const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
)
const answer = (body: string, type = 'application/json'): Buffer =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
const unaryAnswer = answer(unary)
const fixed: ReadonlyMap<string, Buffer> = new Map([
  ['/health', answer('')],
  ['/v1/models', answer(models)],
  ['/metrics', answer(metrics, 'text/plain')],
  ['/version', answer('{"version":"0.32.0"}')],
])

/** Streams in progress; one timer paces them all. */
const streams = new Map<Socket, number>()

function serve(socket: Socket): void {
  let head = ''
  let missing = 0
  let streaming = false
  let path = ''
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('close', () => streams.delete(socket))
  socket.on('data', (bytes: Buffer) => {
    let rest = bytes
    if (missing === 0) {
      head += rest.toString('latin1', 0, Math.min(rest.length, 8_192))
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', head.indexOf(' ') + 1))
      missing = Number(/content-length: *(\d+)/i.exec(head.slice(0, end))?.[1] ?? 0)
      rest = rest.subarray(Math.min(rest.length, end + 4))
      head = ''
    }
    if (rest.includes('"stream":true') || rest.includes('"stream": true')) streaming = true
    missing -= rest.length
    if (missing > 0) return
    missing = 0
    if (streaming) startStream(socket)
    else socket.write(fixed.get(path) ?? unaryAnswer)
    streaming = false
  })
}

function startStream(socket: Socket): void {
  socket.write(streamHead)
  if (gapMs > 0) {
    streams.set(socket, events)
    return
  }
  for (let i = 0; i < events; i++) socket.write(tokenChunk)
  socket.write(lastChunks)
}

let tick = 0

/** Every stream has its turn once in `gapMs` ticks, but not all of them in the same one. */
function pace(): void {
  tick = (tick + 1) % gapMs
  for (const [socket, left] of streams) {
    if ((socket.remotePort ?? 0) % gapMs !== tick) continue
    if (left > 0) {
      const sentMs = (performance.timeOrigin + performance.now()).toFixed(3)
      socket.write(chunk({ content: ` ${sentMs} ` }, null))
      streams.set(socket, left - 1)
    } else {
      socket.write(lastChunks)
      streams.delete(socket)
    }
  }
}

for (const port of process.argv.slice(2)) createServer(serve).listen(Number(port), '127.0.0.1')
if (gapMs > 0) setInterval(pace, 1)
