import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EngineProcess } from './engine-process.ts'
import { readGenerationRequest } from './generation-request.ts'
import { answerEmpty, answerJson, answerText } from './http-answer.ts'
import type { JsonObject } from './json.ts'
import { renderMetrics } from './metrics-page.ts'
import { tokenCount, tokenIds } from './pseudo-tokens.ts'
import { sglangMetrics } from './sglang-metrics.ts'
import { vllmMetrics } from './vllm-metrics.ts'

const vocabulary = 151_936
const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** What answers a GET on a fixed path. */
export type ServicePath = (
  process: EngineProcess,
  response: ServerResponse,
  request: IncomingMessage,
) => void

export const servicePaths: Readonly<Record<string, ServicePath>> = {
  '/health': serveHealth,
  '/ping': (_process, response) => answerEmpty(response, 200),
  '/version': (_process, response) => answerJson(response, 200, { version: '0.32.0' }),
  '/load': (process, response) => answerJson(response, 200, { server_load: process.load }),
  '/is_sleeping': (process, response) =>
    answerJson(response, 200, { is_sleeping: process.faults.asleep === true }),
  '/v1/models': serveModels,
  '/metrics': serveMetrics,
}

function serveHealth(process: EngineProcess, response: ServerResponse): void {
  const { status = 200, delayMs = 0 } = process.faults.health ?? {}
  if (status === null) return
  later(process, delayMs, () => answerEmpty(response, status))
}

function serveMetrics(process: EngineProcess, response: ServerResponse): void {
  const { metrics } = process.faults
  const { personality, models } = process.options
  const source = {
    model: process.engine.model,
    histograms: process.engine.histograms,
    modelName: models[0],
    nowMs: process.engine.nowMs(),
    startedS: process.startedS,
    asleep: process.faults.asleep === true,
    finishedByReason: process.finishedByReason,
  }
  const families = personality === 'sglang' ? sglangMetrics(source) : vllmMetrics(source)
  later(process, metrics?.delayMs ?? 0, () => {
    answerText(response, metrics?.status ?? 200, metricsType, renderMetrics(families, metrics))
  })
}

function serveModels(process: EngineProcess, response: ServerResponse): void {
  const created = Math.floor(process.startedS)
  const { models, personality } = process.options
  const permission = {
    id: `modelperm-${process.newId()}`,
    object: 'model_permission',
    created,
    allow_create_engine: false,
    allow_sampling: true,
    allow_logprobs: true,
    allow_search_indices: false,
    allow_view: true,
    allow_fine_tuning: false,
    organization: '*',
    group: null,
    is_blocking: false,
  }
  const rest = personality === 'vllm' ? { permission: [permission] } : {}
  const data = models.map((id) => ({
    id,
    object: 'model',
    created,
    owned_by: personality,
    root: models[0],
    parent: null,
    max_model_len: process.contextTokensMax,
    ...rest,
  }))
  answerJson(response, 200, { object: 'list', data })
}

/** `/tokenize`, by a prompt or by messages. */
export function serveTokenize(
  process: EngineProcess,
  body: JsonObject,
  response: ServerResponse,
): void {
  const api = body.messages === undefined ? 'completions' : 'chat'
  const { model, prompts } = readGenerationRequest(api, body, () => '')
  process.checkModel(model)
  const tokens = tokenIds(prompts[0], vocabulary)
  const { contextTokensMax } = process
  const answer = { count: tokens.length, max_model_len: contextTokensMax, tokens }
  answerJson(response, 200, { ...answer, token_strs: null })
}

/** `/v1/messages/count_tokens`. */
export function serveCountTokens(
  process: EngineProcess,
  body: JsonObject,
  response: ServerResponse,
): void {
  const whole = { max_tokens: 1, ...body }
  const { model, prompts } = readGenerationRequest('messages', whole, () => '')
  process.checkModel(model)
  const count = tokenCount(prompts[0].length)
  const management = { original_input_tokens: count }
  answerJson(response, 200, { input_tokens: count, context_management: management })
}

/** Calls `run` after a delay of the real clock; without one at once. */
export function later(process: EngineProcess, delayMs: number, run: () => void): void {
  const { wall } = process.options
  if (delayMs === 0) run()
  else wall.at(wall.nowMs() + delayMs, run)
}
