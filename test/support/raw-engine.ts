/** An engine that looks well from outside, and whose answers a test writes byte by byte. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { ScriptedConnection } from './scripted-server.ts'
import { stalledListener } from './stalled-listener.ts'

/** One request to the engine that is no service page. */
export class EngineCall {
  readonly engine: RawEngine
  readonly connection: ScriptedConnection
  /** Method and path: `POST /v1/chat/completions`. */
  readonly line: string
  readonly head: string
  readonly body: string
  /** The connection had carried a request before. */
  readonly reused: boolean
  /** What was answered so far. */
  sentStatus: number | null = null
  sentBody = ''

  constructor(engine: RawEngine, connection: ScriptedConnection, text: string, reused: boolean) {
    const headEnd = text.indexOf('\r\n\r\n')
    this.reused = reused
    this.engine = engine
    this.connection = connection
    this.head = text.slice(0, headEnd)
    this.body = text.slice(headEnd + 4)
    this.line = this.head.slice(0, this.head.indexOf(' HTTP/'))
  }

  write(text: string): this {
    this.connection.socket.write(text, 'latin1')
    return this
  }

  /** A whole answer. */
  answer(status: number, body: string, headers: readonly string[] = []): this {
    return this.begin(status, ['content-type: application/json', ...headers], body.length).part(
      body,
    )
  }

  /** A head that promises a body of so many bytes, or one in chunks. */
  begin(status: number, lines: readonly string[], bytes: number | null): this {
    this.sentStatus = status
    const framing = bytes === null ? 'transfer-encoding: chunked' : `content-length: ${bytes}`
    return this.write([`HTTP/1.1 ${status} Status`, ...lines, framing, '', ''].join('\r\n'))
  }

  beginStream(): this {
    return this.begin(200, ['content-type: text/event-stream; charset=utf-8'], null)
  }

  /** Bytes of a body whose length was told. */
  part(text: string): this {
    this.sentBody += text
    return this.write(text)
  }

  /** One chunk of a body in chunks. */
  chunk(text: string): this {
    this.sentBody += text
    return this.write(`${text.length.toString(16)}\r\n${text}\r\n`)
  }

  endChunks(): this {
    return this.write('0\r\n\r\n')
  }

  reset(): void {
    this.connection.socket.resetAndDestroy()
  }

  close(): void {
    this.connection.socket.end()
  }

  /** The value of a header of the request; null when it is not there. */
  header(name: string): string | null {
    return new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'i').exec(this.head)?.[1] ?? null
  }

  /** When the other side has closed the connection. */
  closed(): Promise<void> {
    return this.connection.closed()
  }
}

export type Script = (call: EngineCall) => unknown

/** What the router itself asks engines. */
const servicePages: ReadonlySet<string> = new Set([
  ...['GET /health', 'GET /v1/models', 'GET /metrics', 'GET /prometheus/metrics', 'GET /version'],
  ...['GET /api/version', 'GET /server_info', 'GET /get_server_info', 'GET /props', 'GET /info'],
])

export class RawEngine {
  /** What the requests get that are no service pages. */
  script: Script
  readonly calls: EngineCall[] = []
  /** `null` lets probes hang. */
  healthStatus: number | null = 200
  /** The page of metrics; null for none. */
  metrics: string | null = null
  models: readonly string[] = ['m']
  probes = 0
  #server: Server
  #port = 0
  readonly #sockets = new Set<Socket>()
  readonly #waiting = new Set<() => void>()
  #accepted = 0

  private constructor(script: Script) {
    this.script = script
    this.#server = this.#listener()
  }

  static async start(t: TestContext, script: Script = () => {}): Promise<RawEngine> {
    const engine = new RawEngine(script)
    await engine.listen()
    t.after(() => engine.stop())
    return engine
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get listening(): boolean {
    return this.#server.listening
  }

  /** On the port that it had before, if it had one. */
  async listen(): Promise<void> {
    if (this.#server.listening) return
    this.#server = this.#listener()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Refuses new connections; those that are open stay. */
  refuse(): void {
    this.#server.close()
  }

  /** Refuses new connections and closes those that do nothing, as uvicorn does on SIGTERM. */
  refuseAndCloseIdle(): void {
    this.refuse()
    const busy = new Set(this.calls.map((call) => call.connection.socket))
    for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy()
  }

  /** As if killed: nobody listens, every connection is closed. */
  stop(): void {
    this.refuse()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Connecting takes for ever from here on. */
  async stopAccepting(t: TestContext): Promise<void> {
    this.stop()
    await stalledListener(t, this.#port)
  }

  /** The call of that number, from 0, when it has come. */
  async call(number: number): Promise<EngineCall> {
    await this.when(() => this.calls.length > number)
    return this.calls[number]!
  }

  /** When `check` holds; asked after each request. */
  async when(check: () => boolean): Promise<void> {
    while (!check()) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake)
          resolve()
        }
        this.#waiting.add(wake)
      })
    }
  }

  #listener(): Server {
    return createServer({ allowHalfOpen: true }, (socket) => {
      const connection = new ScriptedConnection(socket, this.#accepted++)
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('end', () => socket.end())
      void this.#serve(connection)
    })
  }

  async #serve(connection: ScriptedConnection): Promise<void> {
    for (let number = 0; ; number++) {
      const call = new EngineCall(this, connection, await connection.request(), number > 0)
      if (servicePages.has(call.line)) this.#page(call)
      else {
        this.calls.push(call)
        void this.script(call)
      }
      for (const wake of [...this.#waiting]) wake()
    }
  }

  #page(call: EngineCall): void {
    const path = call.line.slice(4)
    if (path === '/health') {
      this.probes++
      if (this.healthStatus !== null) call.answer(this.healthStatus, '')
    } else if (path === '/v1/models') {
      const data = this.models.map((id) => ({ id, object: 'model', owned_by: 'vllm' }))
      call.answer(200, JSON.stringify({ object: 'list', data }))
    } else if (path === '/metrics' && this.metrics !== null) call.answer(200, this.metrics)
    else call.answer(404, '{"detail":"Not Found"}')
  }
}

/** A chat chunk as an event. */
export function tokenEvent(text: string): string {
  const delta = { content: text }
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices })}\n\n`
}

const finish = { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }

/** The last events of a chat stream. */
export const lastEvents =
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [finish] })}\n\n` +
  'data: [DONE]\n\n'

/** Answers as a sound engine would. */
export const answersWell: Script = (call) => {
  if (!call.body.includes('"stream":true')) {
    call.answer(200, wholeAnswer('well'))
    return
  }
  call.beginStream().chunk(tokenEvent('well')).chunk(lastEvents).endChunks()
}

/** A whole chat completion. */
export function wholeAnswer(text: string): string {
  const message = { role: 'assistant', content: text }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }
  return JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices, usage })
}
