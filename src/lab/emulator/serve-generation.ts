import type { IncomingMessage, ServerResponse } from 'node:http'
import { unixTimeMs } from '../../io/real-time.ts'
import type { AnswerContext, AnswerFormat, Choice, Usage } from './answer-format.ts'
import { AnswerWriter } from './answer-writer.ts'
import { chatFormat } from './chat-format.ts'
import { completionsFormat } from './completions-format.ts'
import type { Generation } from './emulated-engine.ts'
import type { EngineProcess } from './engine-process.ts'
import { answerLimits } from './generation-limits.ts'
import {
  type GenerationApi,
  type GenerationRequest,
  readGenerationRequest,
} from './generation-request.ts'
import { writeHead } from './http-answer.ts'
import type { JsonObject } from './json.ts'
import { numberIn } from './json.ts'
import { messagesFormat } from './messages-format.ts'
import { turnEnd } from './prompt-text.ts'
import { tokenCount } from './pseudo-tokens.ts'
import { responsesFormat } from './responses-format.ts'

/** Everything about one request for text that is being answered. */
interface Exchange {
  readonly process: EngineProcess
  readonly response: ServerResponse
  readonly request: GenerationRequest
  readonly format: AnswerFormat
  readonly generations: Generation[]
  /** Called with the whole answer before it is sent. */
  readonly onWhole: (choices: readonly Choice[], usage: Usage) => void
}

/** Answers a request for text; throws an ApiError for one that the engine refuses. */
export function serveGeneration(
  process: EngineProcess,
  api: GenerationApi,
  body: JsonObject,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  const stored = (id: string): string => process.responses.get(id).text
  const request = readGenerationRequest(api, body, stored)
  process.checkModel(request.model)
  const limits = request.prompts.map((prompt) =>
    answerLimits(request, tokenCount(prompt.length), process.contextTokensMax),
  )
  const header = incoming.headers['x-request-id']
  const context: AnswerContext = {
    id: typeof header === 'string' && header !== '' ? header : process.newId(),
    model: process.options.models[0],
    created: Math.floor(unixTimeMs() / 1000),
    includeUsage: request.includeUsage,
    continuousUsage: request.continuousUsage,
  }
  const format = formatOf(api, context, body)
  const onWhole = (choices: readonly Choice[], usage: Usage): void => {
    if (api !== 'responses' || body.store === false) return
    const text = `${request.prompts[0]}${choices[0].text}${turnEnd}`
    process.responses.put(`resp_${context.id}`, { body: format.whole(choices, usage), text })
  }
  const exchange = { process, response, request, format, generations: [], onWhole }
  process.whenAwake(() => {
    if (!response.destroyed) start(exchange, limits)
  })
}

function formatOf(api: GenerationApi, context: AnswerContext, body: JsonObject): AnswerFormat {
  if (api === 'chat') return chatFormat(context)
  if (api === 'completions') return completionsFormat(context)
  if (api === 'messages') return messagesFormat(context)
  const { instructions, previous_response_id: previous } = body
  return responsesFormat(context, {
    instructions: typeof instructions === 'string' ? instructions : null,
    maxOutputTokens: numberIn(body, 'max_output_tokens') ?? null,
    previousResponseId: typeof previous === 'string' ? previous : null,
  })
}

function start(exchange: Exchange, limits: readonly ReturnType<typeof answerLimits>[]): void {
  const { process, response, request, generations } = exchange
  const { faults } = process
  const writer = new AnswerWriter(response, faults, process.options.wall)
  const answer = request.stream ? streamTo(exchange, writer) : wholeTo(exchange, writer)
  request.prompts.forEach((prompt, p) => {
    for (let variant = 0; variant < request.n; variant++) {
      const index = p * request.n + variant
      const generation = process.engine.generate(prompt, limits[p], variant, (token) => {
        if (token === generation.tokens.length - 1) process.finishedByReason[reason()] += 1
        answer(index, token)
      })
      const reason = () => generation.finishReason
      generations.push(generation)
    }
  })
  response.on('close', () => {
    if (faults.ignoreAborts === true) return
    for (const generation of generations) generation.abort()
  })
}

type OnToken = (index: number, token: number) => void

function streamTo(exchange: Exchange, writer: AnswerWriter): OnToken {
  const { process, response, format, generations } = exchange
  const type = { 'content-type': 'text/event-stream; charset=utf-8' }
  writeHead(response, 200, { ...type, ...encoding(process) })
  response.flushHeaders()
  const failing = (): string[] => format.failing('EngineCore encountered an issue.')
  for (const event of format.opening()) writer.event(event, failing)
  let running = exchange.request.prompts.length * exchange.request.n
  return (index, token) => {
    const { tokens, finishReason } = generations[index]
    const last = token === tokens.length - 1
    const streamed = {
      index,
      text: tokens[token],
      first: token === 0,
      finishReason: last ? finishReason : null,
    }
    const usage = usageOf(exchange)
    for (const event of format.token(streamed, usage)) writer.event(event, failing)
    if (last) running -= 1
    if (running > 0) return
    const choices = choicesOf(generations)
    exchange.onWhole(choices, usage)
    for (const event of format.closing(choices, usage)) writer.event(event, failing)
    writer.end()
  }
}

function wholeTo(exchange: Exchange, writer: AnswerWriter): OnToken {
  const { process, response, format, generations, request } = exchange
  let running = request.prompts.length * request.n
  return (index, token) => {
    if (token === generations[index].tokens.length - 1) running -= 1
    if (running > 0) return
    const choices = choicesOf(generations)
    const usage = usageOf(exchange)
    exchange.onWhole(choices, usage)
    const body = JSON.stringify(format.whole(choices, usage))
    const length = process.faults.gzip === true ? {} : { 'content-length': Buffer.byteLength(body) }
    writeHead(response, 200, {
      'content-type': 'application/json',
      ...length,
      ...encoding(process),
    })
    writer.event(body, () => [body])
    writer.end()
  }
}

function encoding(process: EngineProcess): Record<string, string> {
  return process.faults.gzip === true ? { 'content-encoding': 'gzip' } : {}
}

function choicesOf(generations: readonly Generation[]): Choice[] {
  return generations.map(({ tokens, finishReason }, index) => ({
    index,
    text: tokens.join(''),
    finishReason,
  }))
}

/** Token counts so far, over all choices; a prompt with several answers counts once. */
function usageOf({ process, generations, request }: Exchange): Usage {
  const { blockTokens } = process.options.profile
  let [promptTokens, completionTokens, cachedTokens, fullTokens] = [0, 0, 0, 0]
  generations.forEach(({ record, promptTokens: prompt }, index) => {
    completionTokens += record.generatedTokens
    if (index % request.n !== 0) return
    promptTokens += prompt
    cachedTokens += record.cachedGpuTokens + record.cachedHostTokens
    fullTokens += Math.floor(prompt / blockTokens) * blockTokens
  })
  return {
    promptTokens,
    completionTokens,
    cachedTokens: process.faults.withoutCachedTokens === true ? undefined : cachedTokens,
    createdCacheTokens: fullTokens === 0 ? null : Math.max(0, fullTokens - cachedTokens),
  }
}
