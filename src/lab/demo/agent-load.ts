/** Agents at work against one address: sessions of calls that share a long, growing context. */
import { type Random, randomExponential, randomInt, seededRandom } from '../../base/random.ts'
import type { Scheduler } from '../../base/scheduler.ts'
import { answerReader } from '../../protocol/answer-reader.ts'
import { prose } from './agent-text.ts'

export interface AgentLoadOptions {
  readonly url: string
  readonly model: string
  /** Agents that work at the same time; each begins a new session when one is done. */
  readonly agents: number
  /** Two loads of the same seed say and do the same. */
  readonly seed: number
}

/** Sizes in tokens, times in ms: a small coding agent, made to fit a laptop. */
const shape = {
  systemTokens: 1_500,
  ownTokensMin: 6_000,
  ownTokensMax: 20_000,
  turnsMin: 6,
  turnsMax: 14,
  turnTokens: 500,
  outputTokens: 60,
  toolMsMean: 1_200,
} as const

/** Samples kept of the newest calls. */
const samplesMax = 400

interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export class AgentLoad {
  calls = 0
  errors = 0
  promptTokens = 0
  cachedTokens = 0
  /** Of the newest calls, in the order in which they came. */
  readonly ttftMs: number[] = []
  lastError: string | null = null
  readonly #options: AgentLoadOptions
  readonly #scheduler: Scheduler
  readonly #stop = new AbortController()
  readonly #agents: Promise<void>[] = []

  constructor(options: AgentLoadOptions, scheduler: Scheduler) {
    this.#options = options
    this.#scheduler = scheduler
  }

  start(): void {
    const system = prose(seededRandom(this.#options.seed), shape.systemTokens)
    for (let i = 0; i < this.#options.agents; i++) {
      this.#agents.push(this.#work(system, seededRandom(this.#options.seed + 1 + i)))
    }
  }

  /** Ends the calls that are open; resolves when all agents have stopped. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#agents)
  }

  async #work(system: string, random: Random): Promise<void> {
    await this.#pause(randomExponential(random, shape.toolMsMean))
    while (!this.#stop.signal.aborted) await this.#session(system, random)
  }

  async #session(system: string, random: Random): Promise<void> {
    const spread = shape.ownTokensMax - shape.ownTokensMin
    const own = prose(random, shape.ownTokensMin + randomInt(random, spread))
    const messages: Message[] = [
      { role: 'system', content: system },
      { role: 'user', content: own },
    ]
    const turns = shape.turnsMin + randomInt(random, shape.turnsMax - shape.turnsMin)
    for (let turn = 0; turn < turns && !this.#stop.signal.aborted; turn++) {
      const answer = await this.#call(messages)
      if (answer === null) return
      messages.push({ role: 'assistant', content: answer })
      messages.push({ role: 'user', content: prose(random, shape.turnTokens) })
      await this.#pause(randomExponential(random, shape.toolMsMean))
    }
  }

  /** The answer's text; null when there was none. */
  async #call(messages: readonly Message[]): Promise<string | null> {
    const sentMs = this.#scheduler.nowMs()
    try {
      const response = await fetch(`${this.#options.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: this.#options.model,
          messages,
          max_tokens: shape.outputTokens,
          stream: true,
          stream_options: { include_usage: true },
        }),
        signal: this.#stop.signal,
      })
      return await this.#read(response, sentMs)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed((error as Error).message)
      return null
    }
  }

  async #read(response: Response, sentMs: number): Promise<string | null> {
    const type = response.headers.get('content-type') ?? ''
    const reader = answerReader('chat', type, response.status, null)
    let text = ''
    let firstMs: number | null = null
    for await (const piece of response.body!) {
      reader.push(Buffer.from(piece))
      text += Buffer.from(piece).toString('utf8')
      if (reader.firstTokenSeen) firstMs ??= this.#scheduler.nowMs()
    }
    reader.end()
    if (!response.ok || firstMs === null || reader.errorEvent !== null || !reader.complete) {
      this.#failed(`status ${response.status}: ${reader.errorEvent ?? text.slice(0, 200)}`)
      return null
    }
    this.calls++
    this.ttftMs.push(firstMs - sentMs)
    if (this.ttftMs.length > samplesMax) this.ttftMs.shift()
    this.promptTokens += reader.usage.promptTokens ?? 0
    this.cachedTokens += reader.usage.cachedTokens ?? 0
    return contentOf(text)
  }

  #failed(why: string): void {
    this.errors++
    this.lastError = why
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stop
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#scheduler.at(this.#scheduler.nowMs() + ms, done)
      function done(): void {
        signal.removeEventListener('abort', done)
        cancel()
        resolve()
      }
      signal.addEventListener('abort', done)
    })
  }
}

/** The text of a whole stream. */
function contentOf(stream: string): string {
  let content = ''
  for (const line of stream.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const event = JSON.parse(line.slice('data: '.length)) as {
      readonly choices?: readonly { readonly delta?: { readonly content?: string } }[]
    }
    content += event.choices?.[0]?.delta?.content ?? ''
  }
  return content
}
