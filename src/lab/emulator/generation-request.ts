import { ApiError, missingField } from './api-error.ts'
import { isObject, type JsonObject, numberIn } from './json.ts'
import { contentText, conversationText } from './prompt-text.ts'
import { bytesOfTokens } from './pseudo-tokens.ts'

/** The APIs that generate text. */
export type GenerationApi = 'chat' | 'completions' | 'messages' | 'responses'

/** A request for text, whatever API it came by. */
export interface GenerationRequest {
  readonly model: string | undefined
  readonly prompts: readonly Buffer[]
  /** Answers wanted for each prompt. */
  readonly n: number
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly continuousUsage: boolean
  /** Undefined where the client sets no limit. */
  readonly maxTokens: number | undefined
  readonly minTokens: number
  readonly ignoreEos: boolean
}

/** Looks up a stored response: the text of its conversation, its answer included. */
export type StoredText = (responseId: string) => string

/** Reads the body of a request; throws an ApiError where the engine would refuse it. */
export function readGenerationRequest(
  api: GenerationApi,
  body: JsonObject,
  storedText: StoredText,
): GenerationRequest {
  const options = isObject(body.stream_options) ? body.stream_options : undefined
  return {
    model: typeof body.model === 'string' && body.model !== '' ? body.model : undefined,
    prompts: promptsOf(api, body, storedText),
    n: Math.max(1, numberIn(body, 'n') ?? 1),
    stream: body.stream === true,
    includeUsage: options !== undefined && options.include_usage !== false,
    continuousUsage: options?.continuous_usage_stats === true,
    maxTokens: maxTokensOf(api, body),
    minTokens: numberIn(body, 'min_tokens') ?? 0,
    ignoreEos: body.ignore_eos === true,
  }
}

function maxTokensOf(api: GenerationApi, body: JsonObject): number | undefined {
  if (api === 'responses') return numberIn(body, 'max_output_tokens')
  if (api === 'chat') return numberIn(body, 'max_completion_tokens') ?? numberIn(body, 'max_tokens')
  return numberIn(body, 'max_tokens')
}

function promptsOf(api: GenerationApi, body: JsonObject, storedText: StoredText): Buffer[] {
  const fields = Object.keys(body).length
  if (api === 'completions') {
    if (body.prompt === undefined) throw missingField('prompt', fields)
    return completionPrompts(body.prompt)
  }
  if (api === 'responses') return [responsesPrompt(body, storedText)]
  if (!Array.isArray(body.messages)) throw missingField('messages', fields)
  if (api === 'messages' && body.max_tokens === undefined) throw missingField('max_tokens', fields)
  const messages: unknown[] = [...body.messages]
  const system = api === 'messages' ? contentText(body.system) : ''
  if (system !== '') messages.unshift({ role: 'system', content: system })
  return [Buffer.from(conversationText(messages, body.tools))]
}

/** A string, token ids, or a list of either. */
function completionPrompts(prompt: unknown): Buffer[] {
  const list = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt]
  return list.map((item) => {
    if (typeof item === 'string') return Buffer.from(item)
    if (Array.isArray(item)) return bytesOfTokens(item.map(Number))
    const message = 'prompt must be a string, token ids, or a list of either'
    throw new ApiError(400, 'BadRequestError', message, 'prompt')
  })
}

function responsesPrompt(body: JsonObject, storedText: StoredText): Buffer {
  const { input, instructions, previous_response_id: previous } = body
  if (input === undefined) throw missingField('input', Object.keys(body).length)
  const items: unknown[] = Array.isArray(input) ? [...input] : [{ role: 'user', content: input }]
  if (typeof instructions === 'string') items.unshift({ role: 'system', content: instructions })
  const before = typeof previous === 'string' ? storedText(previous) : ''
  return Buffer.from(before + conversationText(items, body.tools))
}
