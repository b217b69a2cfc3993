import { type AnswerContext, type AnswerFormat, namedEvent, type Usage } from './answer-format.ts'

/** Anthropic counts cached tokens apart from `input_tokens`. */
function messageUsage(usage: Usage): object {
  const { promptTokens, completionTokens, cachedTokens, createdCacheTokens } = usage
  if (cachedTokens === undefined) {
    return { input_tokens: promptTokens, output_tokens: completionTokens }
  }
  const created = createdCacheTokens ?? 0
  return {
    input_tokens: promptTokens - cachedTokens - created,
    output_tokens: completionTokens,
    ...(createdCacheTokens === null ? {} : { cache_creation_input_tokens: created }),
    cache_read_input_tokens: cachedTokens,
  }
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens' } as const

/** `/v1/messages` as vLLM 0.32 answers it; a stream ends without `[DONE]`. */
export function messagesFormat({ id: suffix, model }: AnswerContext): AnswerFormat {
  const id = `chatcmpl-${suffix}`
  const head = { id, type: 'message', role: 'assistant' }
  const event = (type: string, fields: object): string => namedEvent(type, { type, ...fields })
  return {
    opening: () => [],
    token: ({ text, first }, { promptTokens }) => {
      const delta = event('content_block_delta', { delta: { type: 'text_delta', text }, index: 0 })
      if (!first) return [delta]
      const message = {
        ...head,
        content: [],
        model,
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: promptTokens, output_tokens: 0 },
      }
      return [
        event('message_start', { message }),
        event('content_block_start', { content_block: { type: 'text', text: '' }, index: 0 }),
        delta,
      ]
    },
    closing: ([choice], usage) => {
      const delta = { stop_reason: stopReasons[choice.finishReason], stop_sequence: null }
      return [
        event('content_block_stop', { index: 0 }),
        event('message_delta', { delta, usage: messageUsage(usage) }),
        event('message_stop', {}),
      ]
    },
    failing: (message) => [event('error', { error: { type: 'internal_error', message } })],
    whole: ([choice], usage) => ({
      ...head,
      content: [{ type: 'text', text: choice.text }],
      model,
      stop_reason: stopReasons[choice.finishReason],
      usage: messageUsage(usage),
    }),
  }
}
