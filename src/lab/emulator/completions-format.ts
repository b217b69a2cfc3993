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

/** `/v1/completions` as vLLM 0.32 answers it: no role chunk, and unset fields are null. */
export function completionsFormat(context: AnswerContext): AnswerFormat {
  const { created, model, includeUsage, continuousUsage } = context
  const id = `cmpl-${context.id}`
  const head = { id, object: 'text_completion', created, model }
  return {
    opening: () => [],
    token: ({ index, text, finishReason }, usage) => {
      const choice = {
        index,
        text,
        logprobs: null,
        finish_reason: finishReason,
        stop_reason: null,
        prompt_token_ids: null,
        token_ids: null,
      }
      const counts = continuousUsage ? { usage: plainUsage(usage) } : {}
      return [dataEvent({ ...head, choices: [choice], ...counts })]
    },
    closing: (_choices, usage) => {
      if (!includeUsage) return [doneEvent]
      const counts = streamedUsage(usage)
      const fingerprint = { system_fingerprint: systemFingerprint }
      return [dataEvent({ ...head, choices: [], usage: counts, ...fingerprint }), doneEvent]
    },
    failing: failureEvents,
    whole: (choices, usage) => ({
      ...head,
      choices: choices.map(({ index, text, finishReason }) => ({
        index,
        text,
        logprobs: null,
        finish_reason: finishReason,
        stop_reason: null,
        token_ids: null,
        prompt_logprobs: null,
        prompt_token_ids: null,
        routed_experts: null,
      })),
      service_tier: null,
      system_fingerprint: systemFingerprint,
      usage: wholeUsage(usage),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: null,
    }),
  }
}
