/** One JSON text of an answer (an event, a line, a whole body), told by its shape. */
import type { AnswerState } from './answer-state.ts'
import { isObject, type Json, type JsonObject, stringOr, writeJsonText } from './json.ts'

/** The part of a chat answer's text; tool calls follow it by their index. */
const textPart = -1

export function readAnswerEvent(state: AnswerState, json: JsonObject): void {
  if (hasError(json)) state.failed(errorMessage(json))
  if (Array.isArray(json.choices)) readChoices(state, json, json.choices)
  else if (typeof json.type === 'string' && json.type.startsWith('response.')) {
    readResponsesEvent(state, json, json.type)
  } else if (json.object === 'response') readResponse(state, json)
  else if (typeof json.type === 'string') readMessagesEvent(state, json)
  else readNativeEvent(state, json)
}

/** A value that says something: not null, '', false, [] or {}. */
function isFilled(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  if (typeof value !== 'object') return true
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}

function hasError(json: JsonObject): boolean {
  return isFilled(json.error) || json.type === 'error' || json.object === 'error'
}

/** `{error: {message}}`, `{error: 'text'}`, or flat beside a `type` or `object` of `error`. */
function errorMessage(json: JsonObject): string {
  const { error } = json
  if (typeof error === 'string') return error
  const message = isObject(error) ? error.message : json.message
  return stringOr(message, 'error without a message')
}

function readUsage(state: AnswerState, holder: JsonObject): void {
  if (isObject(holder.usage)) {
    state.notPlain()
    state.tally.read(holder.usage)
  }
  if (holder.timings !== undefined) {
    state.notPlain()
    state.tally.readTimings(holder.timings)
  }
}

/** Chat completions and completions, streamed and whole. */
function readChoices(state: AnswerState, json: JsonObject, choices: readonly Json[]): void {
  readUsage(state, json)
  for (const choice of choices) {
    if (!isObject(choice)) continue
    const first = choice.index === undefined || choice.index === 0
    const delta = choice.delta ?? choice.message
    if (isObject(delta)) readDelta(state, delta, first)
    else if (typeof choice.text === 'string' && choice.text !== '') {
      if (first) state.text(textPart, 'text', choice.text)
      else state.otherOutput('text', choice.text)
    } else if (isFilled(choice.token_ids)) state.otherOutput('token_ids', null)
    if (isFilled(choice.finish_reason)) state.notPlain()
    if (choice.finish_reason === 'error') state.failed('finish_reason error')
  }
}

/** A role alone is no output; whatever else is filled is, known or not (F011). */
function readDelta(state: AnswerState, delta: JsonObject, first: boolean): void {
  for (const key of Object.keys(delta)) {
    const value = delta[key]
    if (key === 'role' || !isFilled(value)) continue
    if (!first) state.otherOutput(key, value)
    else if (key === 'content' && typeof value === 'string') state.text(textPart, key, value)
    else if (key === 'tool_calls' && Array.isArray(value)) readToolCalls(state, value)
    else if (key === 'function_call') readToolCalls(state, [{ function: value }])
    else state.otherOutput(key, value)
  }
}

function readToolCalls(state: AnswerState, calls: readonly Json[]): void {
  calls.forEach((call, place) => {
    if (!isObject(call)) return
    const inner = isObject(call.function) ? call.function : {}
    const index = typeof call.index === 'number' ? call.index : place
    state.toolCall(index, stringOr(inner.name, ''), 'arguments', argumentsText(inner.arguments))
  })
}

/** Arguments as text; an empty object is only the place that fragments will fill. */
function argumentsText(args: Json | undefined): string {
  if (!isObject(args)) return stringOr(args, '')
  return isFilled(args) ? writeJsonText(args) : ''
}

/** Anthropic's messages: events of a stream, and a whole message. */
function readMessagesEvent(state: AnswerState, json: JsonObject): void {
  const index = typeof json.index === 'number' ? json.index : 0
  switch (json.type) {
    case 'message_start':
      if (isObject(json.message)) readUsage(state, json.message)
      break
    case 'content_block_start':
      if (isObject(json.content_block)) readBlock(state, json.content_block, index)
      break
    case 'content_block_delta':
      if (isObject(json.delta)) readBlockDelta(state, json.delta, index)
      break
    case 'message_delta':
      readUsage(state, json)
      break
    case 'message_stop':
      state.completed()
      break
    case 'message':
      readUsage(state, json)
      if (Array.isArray(json.content)) {
        json.content.forEach((block, place) => {
          if (isObject(block)) readBlock(state, block, place)
        })
      }
      break
    default:
  }
}

function readBlock(state: AnswerState, block: JsonObject, index: number): void {
  if (block.type === 'tool_use') {
    state.toolCall(index, stringOr(block.name, ''), 'input', argumentsText(block.input))
  } else if (block.type === 'text') {
    if (isFilled(block.text)) state.text(index, 'text', stringOr(block.text, ''))
  } else if (isFilled(block.thinking)) state.otherOutput('thinking', block.thinking)
}

function readBlockDelta(state: AnswerState, delta: JsonObject, index: number): void {
  for (const key of Object.keys(delta)) {
    const value = delta[key]
    if (key === 'type' || key === 'signature' || !isFilled(value)) continue
    if (key === 'text' && typeof value === 'string') state.text(index, key, value)
    else if (key === 'partial_json' && typeof value === 'string') {
      state.toolCall(index, '', key, value)
    } else state.otherOutput(key, value)
  }
}

/** The responses API's events; the last one brings the whole answer once more. */
function readResponsesEvent(state: AnswerState, json: JsonObject, type: string): void {
  const { response } = json
  if (type.endsWith('.delta') && isFilled(json.delta)) state.otherOutput('delta', json.delta)
  if (!isObject(response)) return
  state.responseId ??= stringOr(response.id, null)
  if (type === 'response.completed' || type === 'response.incomplete') {
    readOutputItems(state, response)
    state.completed()
  } else if (type === 'response.failed') {
    state.completed()
    state.failed(hasError(response) ? errorMessage(response) : 'response failed')
  }
  readUsage(state, response)
}

function readResponse(state: AnswerState, json: JsonObject): void {
  state.responseId ??= stringOr(json.id, null)
  readUsage(state, json)
  readOutputItems(state, json)
  if (Array.isArray(json.output) && json.output.length > 0) state.otherOutput('output', null)
}

function readOutputItems(state: AnswerState, response: JsonObject): void {
  if (!Array.isArray(response.output)) return
  let part = 0
  for (const item of response.output) {
    if (!isObject(item)) continue
    if (item.type === 'message' && Array.isArray(item.content)) {
      for (const piece of item.content) {
        if (isObject(piece)) state.parts.text(part++, stringOr(piece.text ?? piece.refusal, ''))
      }
    } else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      const args = stringOr(item.arguments ?? item.input, '')
      state.parts.toolCall(part++, stringOr(item.name, ''), args)
    }
  }
}

/** Ollama's lines, TGI's and SGLang's own streams, and whatever is unknown. */
function readNativeEvent(state: AnswerState, json: JsonObject): void {
  if (isObject(json.message)) readDelta(state, json.message, true)
  if (isFilled(json.response)) state.text(textPart, 'response', stringOr(json.response, ''))
  if (isFilled(json.thinking)) state.otherOutput('thinking', json.thinking)
  if (isObject(json.token) && isFilled(json.token.text)) {
    state.text(textPart, 'text', stringOr(json.token.text, ''))
  } else if (isFilled(json.text)) state.otherOutput('text', null)
  if (json.done === true || typeof json.generated_text === 'string') state.completed()
  if (json.done === true) state.tally.readOllama(json)
  if (isObject(json.meta_info)) {
    state.notPlain()
    state.tally.read(json.meta_info)
  }
  readUsage(state, json)
}
