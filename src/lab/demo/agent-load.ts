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
  /** Sessions brought to their end. */
  tasks = 0
  /** Times that the router asked to come again later. */
  putOff = 0
  promptTokens = 0
  cachedTokens = 0
  /** Of the newest calls, in the order in which they came. */
  readonly ttftMs: number[] = []
  /** Of the newest tasks, from the first call to the last answer. */
  readonly taskMs: number[] = []
  lastError: string | null = null
  readonly #options: AgentLoadOptions
  readonly #scheduler: Scheduler
  readonly #stop = new AbortController()
  readonly #agents: Promise<void>[] = []
  /** Agents that are wanted; whoever has a higher number stops behind its session. */
  #wanted: number
  readonly #atWork = new Set<number>()
  readonly #randoms: Random[] = []
  #system = ''

  constructor(options: AgentLoadOptions, scheduler: Scheduler) {
    this.#options = options
    this.#scheduler = scheduler
    this.#wanted = options.agents
  }

  get agents(): number {
    return this.#wanted
  }

  /** Changes how many work at once; sessions that have begun are brought to their end. */
  set agents(count: number) {
    this.#wanted = count
    this.#fill()
  }

  start(): void {
    this.#system = prose(seededRandom(this.#options.seed), shape.systemTokens)
    this.#fill()
  }

  #fill(): void {
    for (let i = 0; i < this.#wanted; i++) {
      if (this.#atWork.has(i)) continue
      this.#atWork.add(i)
      this.#randoms[i] ??= seededRandom(this.#options.seed + 1 + i)
      this.#agents.push(this.#work(i, this.#randoms[i]))
    }
  }

  /** Ends the calls that are open; resolves when all agents have stopped. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#agents)
  }

  async #work(agent: number, random: Random): Promise<void> {
    await this.#pause(randomExponential(random, shape.toolMsMean))
    while (!this.#stop.signal.aborted && agent < this.#wanted) {
      await this.#session(this.#system, random)
    }
    this.#atWork.delete(agent)
  }

  async #session(system: string, random: Random): Promise<void> {
    const spread = shape.ownTokensMax - shape.ownTokensMin
    const own = prose(random, shape.ownTokensMin + randomInt(random, spread))
    const messages: Message[] = [
      { role: 'system', content: system },
      { role: 'user', content: own },
    ]
    const startMs = this.#scheduler.nowMs()
    const turns = shape.turnsMin + randomInt(random, shape.turnsMax - shape.turnsMin)
    for (let turn = 0; turn < turns && !this.#stop.signal.aborted; turn++) {
      const answer = await this.#call(messages)
      if (answer === null) return
      if (turn === turns - 1) this.#done(this.#scheduler.nowMs() - startMs)
      messages.push({ role: 'assistant', content: answer })
      messages.push({ role: 'user', content: prose(random, shape.turnTokens) })
      await this.#pause(randomExponential(random, shape.toolMsMean))
    }
  }

  #done(taskMs: number): void {
    this.tasks++
    this.taskMs.push(taskMs)
    if (this.taskMs.length > samplesMax) this.taskMs.shift()
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
      if (response.status === 429) return await this.#comeAgain(response, messages)
      return await this.#read(response, sentMs)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed((error as Error).message)
      return null
    }
  }

  async #comeAgain(response: Response, messages: readonly Message[]): Promise<string | null> {
    this.putOff++
    await response.body?.cancel()
    await this.#pause(1_000 * Number(response.headers.get('retry-after') ?? 1))
    return this.#stop.signal.aborted ? null : await this.#call(messages)
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
