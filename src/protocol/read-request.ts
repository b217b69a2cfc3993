/** What the router needs to know of a request body, read in one parse. */
import type { Api } from './api.ts'
import { countOrNull, isObject, type Json, type JsonObject } from './json.ts'
import { type ByteSpan, findModelSpan } from './model-span.ts'
import { type PromptRead, readPrompt } from './prompt-hasher.ts'
import { wholeText, withParsedBody } from './text-scan/set-aside.ts'

export interface RequestRead {
  readonly api: Api
  readonly model: string | null
  /**
   * The model's JSON string with its quotes, for `spliceModel`; null when there is none. Searched
   * for when asked: the body must not have changed.
   */
  readonly modelSpan: ByteSpan | null
  readonly streaming: boolean
  readonly maxOutputTokens: number | null
  /** The engine stores something for this request: it must never be sent twice. */
  readonly storesState: boolean
  readonly previousResponseId: string | null
  /** The client asked for usage in the stream, or the API always sends it. */
  readonly wantsUsage: boolean
  readonly prompt: PromptRead
}

export interface RequestUnread {
  readonly ok: false
  readonly reason: 'not-json' | 'not-an-object' | 'unknown-shape'
  /** For the client or the log, in a sentence. */
  readonly message: string
  /** What could still be read of it. */
  readonly model: string | null
  readonly modelSpan: ByteSpan | null
  readonly streaming: boolean
}

export type ReadOutcome = { readonly ok: true; readonly request: RequestRead } | RequestUnread

/**
 * Reads one body. `namespace` separates the prompts of those who must not share a cache (a salt
 * derived from the caller's identity); '' for none.
 */
export function readRequest(api: Api, body: Buffer, namespace: string): ReadOutcome {
  const read = withParsedBody(body, (parsed) => readParsed(api, body, parsed, namespace))
  return read ?? unread('not-json', 'The body is not valid JSON.')
}

function readParsed(api: Api, body: Buffer, parsed: Json, namespace: string): ReadOutcome {
  if (!isObject(parsed)) return unread('not-an-object', 'The body must be a JSON object.')
  const prompt = readPrompt(api, parsed, namespace)
  if (prompt === null) return unknownShape(api, body, parsed)
  return { ok: true, request: new ReadBody(api, body, parsed, prompt) }
}

/** The body with another model in place of the one at `span`: pieces that share its memory. */
export function spliceModel(body: Buffer, span: ByteSpan, model: string): Buffer[] {
  const quoted = Buffer.from(JSON.stringify(model))
  return [body.subarray(0, span.start), quoted, body.subarray(span.end)]
}

function unread(reason: 'not-json' | 'not-an-object', message: string): RequestUnread {
  return { ok: false, reason, message, model: null, modelSpan: null, streaming: false }
}

/** The field that holds the prompt, by API, for the message. */
const promptField: Record<Api, string> = {
  chat: 'messages',
  completions: 'prompt',
  responses: 'input',
  embeddings: 'input',
  messages: 'messages',
  'count-tokens': 'messages',
  other: 'prompt',
}

function unknownShape(api: Api, body: Buffer, parsed: JsonObject): RequestUnread {
  return {
    ok: false,
    reason: 'unknown-shape',
    message: `The field "${promptField[api]}" is missing or has an unknown shape.`,
    model: nameOr(parsed.model),
    modelSpan: findModelSpan(body),
    streaming: parsed.stream === true,
  }
}

class ReadBody implements RequestRead {
  readonly api: Api
  readonly model: string | null
  readonly streaming: boolean
  readonly maxOutputTokens: number | null
  readonly storesState: boolean
  readonly previousResponseId: string | null
  readonly wantsUsage: boolean
  readonly prompt: PromptRead
  readonly #body: Buffer

  constructor(api: Api, body: Buffer, parsed: JsonObject, prompt: PromptRead) {
    this.api = api
    this.#body = body
    this.prompt = prompt
    this.model = nameOr(parsed.model)
    this.streaming = parsed.stream === true
    this.maxOutputTokens = maxOutputTokensOf(parsed)
    this.storesState = storesStateOf(api, parsed)
    this.previousResponseId = nameOr(parsed.previous_response_id)
    this.wantsUsage = wantsUsageOf(api, parsed)
  }

  get modelSpan(): ByteSpan | null {
    return this.model === null ? null : findModelSpan(this.#body)
  }
}

function nameOr(value: Json | undefined): string | null {
  return typeof value === 'string' ? wholeText(value) : null
}

function maxOutputTokensOf(body: JsonObject): number | null {
  return countOrNull(body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens)
}

/** The responses API stores unless told not to, chat completions only when told. */
function storesStateOf(api: Api, body: JsonObject): boolean {
  if (api === 'responses') return body.store !== false || body.background === true
  return body.store === true
}

/** vLLM takes `stream_options` without a word about usage as asking for it. */
function wantsUsageOf(api: Api, body: JsonObject): boolean {
  if (api !== 'chat' && api !== 'completions') return api !== 'other'
  if (body.stream !== true) return true
  const options: Json | undefined = body.stream_options
  return isObject(options) && options.include_usage !== false
}
