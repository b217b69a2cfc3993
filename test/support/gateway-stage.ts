/** A gateway before raw engines, with what it logs and shows. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Config, defaultConfig } from '../../src/config/config.ts'
import { type RunningGateway, startGateway } from '../../src/drivers/gateway/start-gateway.ts'
import { realTimeScheduler } from '../../src/io/real-time.ts'
import type { Logger, LogLine } from '../../src/observe/logger.ts'
import type { RouterStatus } from '../../src/observe/status.ts'
import { RawClient } from './raw-client.ts'
import type { RawEngine } from './raw-engine.ts'

export interface StageOptions {
  readonly config?: Partial<Config>
  /** How many times faster than real time the gateway's clock runs. */
  readonly timeScale?: number
}

export interface ChatOptions {
  readonly path?: string
  /** Lines of the request's head. */
  readonly headers?: readonly string[]
}

export class GatewayStage {
  readonly gateway: RunningGateway
  readonly lines: LogLine[]
  #config: Config
  readonly #clients: RawClient[] = []
  readonly #waiting: Set<() => void>

  private constructor(
    gateway: RunningGateway,
    config: Config,
    lines: LogLine[],
    waiting: Set<() => void>,
  ) {
    this.#config = config
    this.gateway = gateway
    this.lines = lines
    this.#waiting = waiting
  }

  /**
   * Resolves when every engine that listens is known to be well. Requests go to the engines in
   * turn, the first one first, and no probe comes unasked, unless the configuration says otherwise.
   */
  static async start(
    t: TestContext,
    engines: readonly RawEngine[],
    options: StageOptions = {},
  ): Promise<GatewayStage> {
    const lines: LogLine[] = []
    const waiting = new Set<() => void>()
    const log: Logger = {
      log: (line) => {
        lines.push(line)
        for (const wake of [...waiting]) wake()
      },
      enabled: () => true,
      droppedLines: 0,
      flush: () => {},
    }
    const config: Config = {
      ...defaultConfig,
      host: '127.0.0.1',
      port: 0,
      policy: 'round-robin',
      healthIntervalMs: 60_000,
      drainTimeoutMs: 0,
      endpoints: engines.map(({ url }) => endpointSpec(url)),
      ...options.config,
    }
    const gateway = await startGateway(config, log, realTimeScheduler(options.timeScale))
    const stage = new GatewayStage(gateway, config, lines, waiting)
    t.after(async () => {
      for (const client of stage.#clients) client.close()
      await gateway.close()
    })
    await stage.logged('endpoint.up', engines.filter((engine) => engine.listening).length)
    return stage
  }

  get port(): number {
    return Number(new URL(this.gateway.address).port)
  }

  client(): RawClient {
    const client = new RawClient(this.port)
    this.#clients.push(client)
    return client
  }

  /** A chat completion, on a connection of its own that closes behind the answer. */
  chat(fields: object = {}, options: ChatOptions = {}): RawClient {
    const { path = '/v1/chat/completions', headers = [] } = options
    const body = Buffer.from(JSON.stringify({ ...chatBody, ...fields }))
    const lines = [`POST ${path} HTTP/1.1`, 'host: router', 'content-type: application/json']
    lines.push(`content-length: ${body.length}`, 'connection: close', ...headers, '', '')
    return this.client().send(Buffer.concat([Buffer.from(lines.join('\r\n')), body]))
  }

  /** A request with these bytes, on a connection of its own that closes behind the answer. */
  request(line: string, body: string | Buffer = '', headers: readonly string[] = []): RawClient {
    const lines = [`${line} HTTP/1.1`, 'host: router', 'connection: close', ...headers]
    if (body.length > 0) lines.push(`content-length: ${Buffer.byteLength(body)}`)
    const head = Buffer.from([...lines, '', ''].join('\r\n'))
    return this.client().send(Buffer.concat([head, Buffer.from(body)]))
  }

  /** As if these options had been changed in the file, which was then read again. */
  reload(changes: Partial<Config>): void {
    this.#config = { ...this.#config, ...changes }
    this.gateway.reload({ ok: true, config: this.#config })
  }

  /** As if the engine had been taken out of the file. */
  without(engine: RawEngine): void {
    this.reload({ endpoints: this.#config.endpoints.filter(({ url }) => url !== engine.url) })
  }

  async status(): Promise<RouterStatus> {
    const response = await fetch(`${this.gateway.address}/status`)
    return (await response.json()) as RouterStatus
  }

  /** Why each endpoint may or may not be chosen, in the order of the configuration. */
  async reasons(): Promise<string[]> {
    return (await this.status()).endpoints.map(({ reason }) => reason)
  }

  /** Sum of a metric over all label sets that hold these words. */
  async metric(name: string, ...labels: readonly string[]): Promise<number> {
    const page = await (await fetch(`${this.gateway.address}/metrics`)).text()
    return page
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => labels.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }

  /** When so many lines of that event were logged; the last of them. */
  async logged(event: string, count = 1): Promise<LogLine> {
    const of = (): LogLine[] => this.lines.filter((line) => line.event === event)
    while (of().length < count) await this.#nextLine()
    return of()[count - 1]!
  }

  /** When `/status` holds what `check` wants; asked again and again. */
  async statusWhen(check: (status: RouterStatus) => boolean): Promise<RouterStatus> {
    const giveUpAt = process.hrtime.bigint() + 10_000_000_000n
    for (;;) {
      const status = await this.status()
      if (check(status)) return status
      assert.ok(process.hrtime.bigint() < giveUpAt, `never came: ${JSON.stringify(status)}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  #nextLine(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }
}

const chatBody = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }] }

function endpointSpec(url: string): Config['endpoints'][number] {
  return { url } as Config['endpoints'][number]
}
