import {
  type AnswerContext,
  type AnswerFormat,
  dataEvent,
  doneEvent,
  failureEvents,
  plainUsage,
  streamedUsage,
  systemFingerprint,
  wholeUsage,
} from './answer-format.ts'

/** `/v1/chat/completions` as vLLM 0.32 answers it (read off a running server). */
export function chatFormat(context: AnswerContext): AnswerFormat {
  const { created, model, includeUsage, continuousUsage } = context
  const id = `chatcmpl-${context.id}`
  const head = { id, object: 'chat.completion.chunk', created, model }
  return {
    opening: () => [],
    token: ({ index, text, first, finishReason }, usage) => {
      const counts = continuousUsage ? { usage: plainUsage(usage) } : {}
      const events: string[] = []
      if (first) {
        const delta = { role: 'assistant', content: '' }
        const choices = [{ index, delta, logprobs: null, finish_reason: null }]
        const ids = { prompt_token_ids: null, prompt_text: null }
        events.push(dataEvent({ ...head, choices, ...counts, ...ids }))
      }
      const stop = finishReason === null ? {} : { stop_reason: null }
      const choice = { index, delta: { content: text }, logprobs: null }
      const ended = { finish_reason: finishReason, ...stop, token_ids: null }
      const last = finishReason !== null && !includeUsage
      const fingerprint = last ? { system_fingerprint: systemFingerprint } : {}
      events.push(
        dataEvent({ ...head, choices: [{ ...choice, ...ended }], ...counts, ...fingerprint }),
      )
      return events
    },
    closing: (_choices, usage) => {
      if (!includeUsage) return [doneEvent]
      const counts = streamedUsage(usage)
      const fingerprint = { system_fingerprint: systemFingerprint }
      return [dataEvent({ ...head, choices: [], usage: counts, ...fingerprint }), doneEvent]
    },
    failing: failureEvents,
    whole: (choices, usage) => ({
      id,
      object: 'chat.completion',
      created,
      model,
      choices: choices.map(({ index, text, finishReason }) => ({
        index,
        message: {
          role: 'assistant',
          content: text,
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          reasoning: null,
        },
        logprobs: null,
        finish_reason: finishReason,
        stop_reason: null,
        token_ids: null,
        routed_experts: null,
      })),
      service_tier: null,
      system_fingerprint: systemFingerprint,
      usage: wholeUsage(usage),
      prompt_logprobs: null,
      prompt_token_ids: null,
      prompt_text: null,
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: null,
    }),
  }
}
