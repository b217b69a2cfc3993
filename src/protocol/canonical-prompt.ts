/**
 * What reaches the model, as bytes: one canonical stream for each prompt, whatever the JSON looked
 * like. The bytes of message k depend on the messages up to k alone, so that a longer conversation
 * begins with the stream of the shorter one.
 *
 * Left out because it does not reach the prompt template, or not at a fixed place: ids of calls,
 * reasoning (templates drop it from earlier turns, and clients seldom send it back), sampling
 * parameters, `tool_choice`, `response_format`, and fields that are unknown.
 */
import type { Api } from './api.ts'
import type { BlockHasher } from './block-hasher.ts'
import { writeJson } from './canonical-json.ts'
import {
  writeContent,
  writeMessage,
  writeRole,
  writeText,
  writeToolCall,
} from './canonical-message.ts'
import { isObject, type Json, type JsonObject, stringOr } from './json.ts'
import { promptTag } from './prompt-tags.ts'

/**
 * How an answer goes on from the end of a prompt: as a turn of its own; as more parts of the
 * assistant's turn; with its text directly behind the text at the end; or not at all.
 */
export type PromptEnd = 'new-turn' | 'same-turn' | 'same-text' | 'unknown'

/** Fields of a request, beside the messages, that chat templates are given. */
const templateFields = ['chat_template', 'chat_template_kwargs', 'documents', 'reasoning_effort']

/** Writes the prompt of a body; null when the body has not the shape of the API. */
export function writePrompt(out: BlockHasher, api: Api, body: JsonObject): PromptEnd | null {
  switch (api) {
    case 'chat':
      return writeChat(out, body)
    case 'completions':
      return writePlainPrompt(out, body.prompt)
    case 'responses':
      return writeResponses(out, body)
    case 'messages':
    case 'count-tokens':
      return writeMessages(out, body)
    case 'embeddings':
      return 'messages' in body ? writeChat(out, body) : writeInputs(out, body.input)
    case 'other':
      return writeOther(out, body)
  }
}

function writeOther(out: BlockHasher, body: JsonObject): PromptEnd {
  if (Array.isArray(body.messages)) return writeChat(out, body) ?? 'unknown'
  return writePlainPrompt(out, body.prompt) ?? 'unknown'
}

function writeChat(out: BlockHasher, body: JsonObject): PromptEnd | null {
  const { messages } = body
  if (!Array.isArray(messages)) return null
  writeTemplateFields(out, body)
  writeTools(out, body.tools)
  let endsWithText = false
  let role = ''
  for (const message of messages) {
    if (!isObject(message)) return null
    role = stringOr(message.role, '')
    endsWithText = writeMessage(out, role, message)
  }
  const open = body.continue_final_message === true && role === 'assistant' && endsWithText
  return open ? 'same-text' : 'new-turn'
}

function writeMessages(out: BlockHasher, body: JsonObject): PromptEnd | null {
  const { messages, system } = body
  if (!Array.isArray(messages)) return null
  writeTemplateFields(out, body)
  writeTools(out, body.tools)
  if (system !== undefined && system !== null) {
    writeRole(out, 'system')
    writeContent(out, system)
  }
  let endsWithText = false
  let role = ''
  for (const message of messages) {
    if (!isObject(message)) return null
    role = stringOr(message.role, '')
    endsWithText = writeMessage(out, role, message)
  }
  // A final assistant message is a prefill: the answer goes on from it.
  if (role !== 'assistant') return 'new-turn'
  return endsWithText ? 'same-text' : 'same-turn'
}

function writeResponses(out: BlockHasher, body: JsonObject): PromptEnd | null {
  const { input } = body
  writeTemplateFields(out, body)
  for (const stored of [body.previous_response_id, body.conversation, body.prompt]) {
    if (stored === undefined || stored === null) continue
    out.tag(promptTag.storedState)
    writeJson(out, stored)
  }
  writeTools(out, body.tools)
  const instructions = stringOr(body.instructions, '')
  if (instructions !== '') {
    writeRole(out, 'system')
    writeText(out, instructions)
  }
  if (typeof input === 'string') {
    writeRole(out, 'user')
    writeText(out, input)
    return 'new-turn'
  }
  if (input === undefined || input === null) return 'new-turn'
  if (!Array.isArray(input)) return null
  let assistant = false
  for (const item of input) {
    if (!isObject(item)) return null
    assistant = writeResponsesItem(out, item, assistant)
  }
  return assistant ? 'same-turn' : 'new-turn'
}

/**
 * One input item. The assistant's messages and calls are items of their own there; those that
 * stand together are one turn. Returns whether the assistant's turn is open behind the item.
 */
function writeResponsesItem(out: BlockHasher, item: JsonObject, assistant: boolean): boolean {
  switch (item.type) {
    case undefined:
    case 'message': {
      const role = stringOr(item.role, '')
      if (role !== 'assistant' || !assistant) writeRole(out, role)
      writeContent(out, item.content)
      return role === 'assistant'
    }
    case 'function_call':
    case 'custom_tool_call':
      if (!assistant) writeRole(out, 'assistant')
      writeToolCall(out, stringOr(item.name, ''), item.arguments ?? item.input)
      return true
    case 'function_call_output':
    case 'custom_tool_call_output':
      writeRole(out, 'tool')
      writeContent(out, item.output)
      return false
    case 'reasoning':
      return assistant
    default: {
      const { id: _id, status: _status, ...rest } = item
      out.tag(promptTag.otherPart)
      writeJson(out, rest)
      return assistant
    }
  }
}

function writePlainPrompt(out: BlockHasher, prompt: Json | undefined): PromptEnd | null {
  if (typeof prompt === 'string') {
    out.tag(promptTag.plainText)
    out.text(prompt)
    return 'same-text'
  }
  if (!Array.isArray(prompt) || prompt.length === 0) return null
  if (typeof prompt[0] === 'number') return writeTokenIds(out, prompt)
  // Several prompts: the first speaks for all.
  return Array.isArray(prompt[0]) && typeof prompt[0][0] !== 'number'
    ? null
    : writePlainPrompt(out, prompt[0])
}

function writeInputs(out: BlockHasher, input: Json | undefined): PromptEnd | null {
  if (!Array.isArray(input)) return writePlainPrompt(out, input) === null ? null : 'unknown'
  if (typeof input[0] === 'number') return writeTokenIds(out, input)
  for (const one of input) if (writePlainPrompt(out, one) === null) writeContent(out, [one])
  return 'unknown'
}

function writeTokenIds(out: BlockHasher, ids: readonly Json[]): PromptEnd {
  out.tag(promptTag.tokenIds)
  for (const id of ids) out.word(typeof id === 'number' ? id : -1)
  return 'unknown'
}

function writeTemplateFields(out: BlockHasher, body: JsonObject): void {
  for (const field of templateFields) {
    const value = body[field]
    if (value === undefined || value === null) continue
    out.tag(promptTag.template)
    out.text(field)
    writeJson(out, value)
  }
}

/** Tools in their order; of each what templates print: name, description and parameters. */
function writeTools(out: BlockHasher, tools: Json | undefined): void {
  if (!Array.isArray(tools)) return
  for (const tool of tools) {
    out.tag(promptTag.tool)
    const inner = isObject(tool) && isObject(tool.function) ? tool.function : tool
    if (!isObject(inner) || typeof inner.name !== 'string') {
      writeJson(out, tool)
      continue
    }
    out.text(inner.name)
    writeJson(out, inner.description)
    writeJson(out, inner.parameters ?? inner.input_schema)
    if (isBuiltIn(inner.type)) writeJson(out, inner.type)
  }
}

function isBuiltIn(type: Json | undefined): boolean {
  return typeof type === 'string' && type !== 'function' && type !== 'custom'
}
