import type { AnswerContext, AnswerFormat, Choice, Usage } from './answer-format.ts'
import { namedEvent } from './answer-format.ts'

/** Fields of the request that its answer repeats. */
export interface ResponseEcho {
  readonly instructions: string | null
  readonly maxOutputTokens: number | null
  readonly previousResponseId: string | null
}

function responseUsage(usage: Usage): object {
  const { promptTokens, completionTokens, cachedTokens, createdCacheTokens } = usage
  return {
    input_tokens: promptTokens,
    input_tokens_details: {
      cached_tokens: cachedTokens ?? 0,
      cache_write_tokens: cachedTokens === undefined ? 0 : (createdCacheTokens ?? 0),
      input_tokens_per_turn: [],
      cached_tokens_per_turn: [],
    },
    output_tokens: completionTokens,
    output_tokens_details: {
      reasoning_tokens: 0,
      tool_output_tokens: 0,
      output_tokens_per_turn: [],
      tool_output_tokens_per_turn: [],
    },
    total_tokens: promptTokens + completionTokens,
  }
}

/** `/v1/responses` as vLLM 0.32 answers it; its stream begins before the first token. */
export function responsesFormat(context: AnswerContext, echo: ResponseEcho): AnswerFormat {
  const itemId = `msg_${context.id}`
  const part = (text: string) => ({ annotations: [], text, type: 'output_text', logprobs: null })
  const item = (status: string, content: object[]) => ({
    id: itemId,
    content,
    role: 'assistant',
    status,
    type: 'message',
    phase: null,
  })
  const whole = ([choice]: readonly Choice[], usage: Usage) =>
    responseObject(context, echo, {
      status: choice.finishReason === 'length' ? 'incomplete' : 'completed',
      output: [item('completed', [part(choice.text)])],
      usage: responseUsage(usage),
    })

  let sequence = 0
  const event = (type: string, fields: object): string =>
    namedEvent(type, { ...fields, sequence_number: sequence++, type })
  const place = { item_id: itemId, output_index: 0 }
  return {
    opening: () => {
      const response = responseObject(context, echo, {
        status: 'in_progress',
        output: [],
        usage: null,
      })
      return [event('response.created', { response }), event('response.in_progress', { response })]
    },
    token: ({ text, first }) => {
      const events: string[] = []
      if (first) {
        const added = { item: item('in_progress', []), output_index: 0 }
        events.push(event('response.output_item.added', added))
        const empty = { ...part(''), logprobs: [] }
        events.push(
          event('response.content_part.added', { content_index: 0, ...place, part: empty }),
        )
      }
      const { item_id, output_index } = place
      const delta = { content_index: 0, delta: text, item_id, logprobs: [], output_index }
      events.push(event('response.output_text.delta', delta))
      return events
    },
    closing: (choices, usage) => {
      const { text } = choices[0]
      const { item_id, output_index } = place
      const at = { content_index: 0, item_id }
      const done = { item: item('completed', [part(text)]), output_index: 0 }
      const textDone = { ...at, logprobs: [], output_index }
      return [
        namedEvent('response.output_text.done', {
          ...textDone,
          sequence_number: sequence++,
          text,
          type: 'response.output_text.done',
        }),
        event('response.content_part.done', { content_index: 0, ...place, part: part(text) }),
        event('response.output_item.done', done),
        event('response.completed', { response: whole(choices, usage) }),
      ]
    },
    failing: (message) => [event('error', { code: '500', message, param: null })],
    whole,
  }
}

interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete'
  readonly output: readonly object[]
  readonly usage: object | null
}

function responseObject(context: AnswerContext, echo: ResponseEcho, state: ResponseState): object {
  const { status, output, usage } = state
  return {
    id: `resp_${context.id}`,
    created_at: context.created,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: echo.instructions,
    metadata: null,
    model: context.model,
    object: 'response',
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'none',
    tools: [],
    top_p: 1,
    background: false,
    max_output_tokens: echo.maxOutputTokens,
    max_tool_calls: null,
    previous_response_id: echo.previousResponseId,
    prompt: null,
    reasoning: null,
    service_tier: 'auto',
    status,
    text: null,
    top_logprobs: null,
    truncation: 'disabled',
    usage,
    user: null,
    presence_penalty: 0,
    frequency_penalty: 0,
    kv_transfer_params: null,
    ec_transfer_params: null,
    input_messages: null,
    output_messages: null,
  }
}
