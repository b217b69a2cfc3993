/** Agents at work: each run is a conversation, call after call, through the official client. */
import OpenAI from 'openai'
import type { AgentRun, Message } from './recorded-agents.ts'

export interface DriveOptions {
  readonly url: string
  readonly model: string
  readonly runs: readonly AgentRun[]
  /** Runs that are open at once. */
  readonly atOnce: number
  readonly maxTokens: number
  /** Fields beyond OpenAI's, for engines that know them. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Every other call is made without streaming when set. */
  readonly mixed?: boolean
  /** Sent with each call, for a balancer that hashes it. */
  readonly sessionHeader?: string
  readonly onCall?: (done: number) => void
}

export interface DriveResult {
  readonly requests: number
  readonly errors: readonly string[]
  /** From sending to the first content, of streamed calls. Milliseconds, ascending. */
  readonly ttftMs: readonly number[]
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly makespanMs: number
}

interface Tally {
  requests: number
  promptTokens: number
  cachedTokens: number
  readonly errors: string[]
  readonly ttftMs: number[]
}

export async function driveAgents(options: DriveOptions): Promise<DriveResult> {
  const client = new OpenAI({ baseURL: `${options.url}/v1`, apiKey: 'none', maxRetries: 0 })
  const tally: Tally = { requests: 0, promptTokens: 0, cachedTokens: 0, errors: [], ttftMs: [] }
  const startMs = performance.now()
  const waiting = [...options.runs]
  const worker = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      for (const [turn, { messages }] of run.calls.entries()) {
        const streamed = options.mixed !== true || turn % 2 === 0
        const headers = options.sessionHeader ? { [options.sessionHeader]: run.id } : {}
        tally.requests++
        try {
          if (streamed) await streamedCall(client, options, messages, headers, tally)
          else await wholeCall(client, options, messages, headers, tally)
        } catch (error) {
          tally.errors.push(`${run.id} call ${turn}: ${(error as Error).message}`)
        }
        options.onCall?.(tally.requests)
      }
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, worker))
  tally.ttftMs.sort((a, b) => a - b)
  return { ...tally, makespanMs: performance.now() - startMs }
}

function requestOf({ model, maxTokens, extra }: DriveOptions, messages: readonly Message[]) {
  return { model, messages: [...messages], max_tokens: maxTokens, ...extra }
}

async function streamedCall(
  client: OpenAI,
  options: DriveOptions,
  messages: readonly Message[],
  headers: Record<string, string>,
  tally: Tally,
): Promise<void> {
  const sentMs = performance.now()
  const stream = await client.chat.completions.create(
    {
      ...requestOf(options, messages),
      stream: true,
      stream_options: { include_usage: true },
    },
    { headers },
  )
  let firstMs: number | null = null
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta?.content) firstMs ??= performance.now()
    if (chunk.usage) count(tally, chunk.usage)
  }
  if (firstMs === null) throw new Error('the stream ended without content')
  tally.ttftMs.push(firstMs - sentMs)
}

async function wholeCall(
  client: OpenAI,
  options: DriveOptions,
  messages: readonly Message[],
  headers: Record<string, string>,
  tally: Tally,
): Promise<void> {
  const answer = await client.chat.completions.create(requestOf(options, messages), { headers })
  if (!answer.choices[0]?.message.content) throw new Error('the answer has no content')
  if (answer.usage) count(tally, answer.usage)
}

function count(tally: Tally, usage: OpenAI.CompletionUsage): void {
  tally.promptTokens += usage.prompt_tokens
  tally.cachedTokens += usage.prompt_tokens_details?.cached_tokens ?? 0
}

/** The p-quantile of ascending samples (nearest rank); NaN without samples. */
export function quantile(ascending: readonly number[], p: number): number {
  const rank = Math.max(0, Math.ceil(p * ascending.length) - 1)
  return ascending[rank] ?? Number.NaN
}
