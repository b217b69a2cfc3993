import { ApiError } from './api-error.ts'
import type { AnswerLimits } from './emulated-engine.ts'
import type { GenerationRequest } from './generation-request.ts'

function badRequest(param: string, value: number, message: string): ApiError {
  const text = `${message} (parameter=${param}, value=${value})`
  return new ApiError(400, 'BadRequestError', text, param)
}

/** How long the answer to a prompt may be; throws the engine's 400 where it cannot fit. */
export function answerLimits(
  request: GenerationRequest,
  promptTokens: number,
  contextTokensMax: number,
): AnswerLimits {
  const { maxTokens, minTokens, ignoreEos } = request
  checkMaxTokens(maxTokens, contextTokensMax)
  if (promptTokens >= contextTokensMax) {
    throw badRequest(
      'input_tokens',
      promptTokens,
      `This model's maximum context length is ${contextTokensMax} tokens. However, your prompt ` +
        `contains at least ${promptTokens} input tokens, which exceeds this limit even without ` +
        `any output tokens. Please reduce the length of the input prompt.`,
    )
  }
  const room = contextTokensMax - promptTokens
  if (maxTokens !== undefined && maxTokens > room) {
    throw badRequest(
      'input_tokens',
      promptTokens,
      `This model's maximum context length is ${contextTokensMax} tokens. However, you requested ` +
        `${maxTokens} output tokens and your prompt contains at least ${promptTokens} input ` +
        `tokens, for a total of at least ${promptTokens + maxTokens} tokens. Please reduce the ` +
        `length of the input prompt or the number of requested output tokens.`,
    )
  }
  return { maxTokens: maxTokens ?? room, minTokens, ignoreEos }
}

function checkMaxTokens(maxTokens: number | undefined, contextTokensMax: number): void {
  if (maxTokens === undefined) return
  if (maxTokens < 1) {
    throw badRequest('max_tokens', maxTokens, `max_tokens must be at least 1, got ${maxTokens}.`)
  }
  if (maxTokens <= contextTokensMax) return
  throw badRequest(
    'max_tokens',
    maxTokens,
    `max_tokens=${maxTokens} cannot be greater than max_model_len=${contextTokensMax}. ` +
      `Please request fewer output tokens.`,
  )
}
