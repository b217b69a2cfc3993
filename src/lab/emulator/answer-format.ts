/** Why an answer ended. */
export type FinishReason = 'stop' | 'length'

/** Token counts of a request, as its answer reports them. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Undefined where the engine does not report it. */
  readonly cachedTokens: number | undefined
  /** Prompt tokens that this request put into the cache; null where no block was full. */
  readonly createdCacheTokens: number | null
}

export interface Choice {
  readonly index: number
  readonly text: string
  readonly finishReason: FinishReason
}

/** A token of a stream. */
export interface StreamedToken {
  /** The choice that it belongs to. */
  readonly index: number
  readonly text: string
  readonly first: boolean
  readonly finishReason: FinishReason | null
}

/** How one API words its answers. Events are whole SSE events, with their blank line. */
export interface AnswerFormat {
  /** Before the first token. */
  opening(): string[]
  token(token: StreamedToken, usage: Usage): string[]
  /** Behind the last token of the last choice. */
  closing(choices: readonly Choice[], usage: Usage): string[]
  /** An engine that dies tells a stream so. */
  failing(message: string): string[]
  /** The answer to a request without streaming. */
  whole(choices: readonly Choice[], usage: Usage): object
}

/** What a format needs to know of the request it answers. */
export interface AnswerContext {
  /** The part of the answer's id behind its prefix. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  readonly includeUsage: boolean
  readonly continuousUsage: boolean
}

export const systemFingerprint = 'vllm-0.32.0-183d7533'

export const doneEvent = 'data: [DONE]\n\n'

export function dataEvent(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

export function namedEvent(name: string, value: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
}

/** An engine's death in the middle of an OpenAI stream; vLLM does write `[DONE]` behind it. */
export function failureEvents(message: string): string[] {
  const error = { message, type: 'InternalServerError', param: null, code: 500 }
  return [dataEvent({ error }), doneEvent]
}

/** OpenAI's `usage` in a stream, where unset fields are left out. */
export function streamedUsage(usage: Usage): object {
  const { cachedTokens, createdCacheTokens } = usage
  const counts = plainUsage(usage)
  if (cachedTokens === undefined) return counts
  const created = createdCacheTokens === null ? {} : { created_cache_tokens: createdCacheTokens }
  return { ...counts, prompt_tokens_details: { cached_tokens: cachedTokens, ...created } }
}

/** OpenAI's `usage` of a whole answer, where unset fields are null. */
export function wholeUsage(usage: Usage): object {
  const { cachedTokens, createdCacheTokens } = usage
  const details =
    cachedTokens === undefined
      ? null
      : {
          cached_tokens: cachedTokens,
          created_cache_tokens: createdCacheTokens,
          multimodal_tokens: null,
        }
  return {
    ...plainUsage(usage),
    prompt_tokens_details: details,
    completion_tokens_details: null,
  }
}

export function plainUsage({ promptTokens, completionTokens }: Usage): object {
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
  }
}
