/** One message of a conversation into the canonical stream. */
import type { BlockHasher } from './block-hasher.ts'
import { writeJson } from './canonical-json.ts'
import { isObject, type Json, type JsonObject, parseJson, stringOr } from './json.ts'
import { writeMedia } from './media.ts'
import { promptTag } from './prompt-tags.ts'
import { setAsideStartsWith, wholeText } from './text-scan/set-aside.ts'

/** Claude Code's attribution line changes with each request; vLLM drops it before templating. */
const billingMark = 'x-anthropic-billing-header'
const billingMarkBytes = Buffer.from(billingMark)

/** Returns whether the message ends with text. */
export function writeMessage(out: BlockHasher, role: string, message: JsonObject): boolean {
  writeRole(out, role)
  if (typeof message.name === 'string') {
    out.tag(promptTag.name)
    out.text(message.name)
  }
  let endsWithText = writeContent(out, message.content)
  const calls = message.tool_calls
  if (Array.isArray(calls)) {
    for (const call of calls) {
      const inner = isObject(call) ? (isObject(call.function) ? call.function : call) : {}
      writeToolCall(out, stringOr(inner.name, ''), inner.arguments)
      endsWithText = false
    }
  }
  if (isObject(message.function_call)) {
    writeToolCall(out, stringOr(message.function_call.name, ''), message.function_call.arguments)
    endsWithText = false
  }
  return endsWithText
}

/** A string, one part or a list of parts. Returns whether it ends with text. */
export function writeContent(out: BlockHasher, content: Json | undefined): boolean {
  if (typeof content === 'string') return writeText(out, content)
  if (!Array.isArray(content)) return isObject(content) ? writePart(out, content) : false
  let endsWithText = false
  for (const part of content) {
    endsWithText = typeof part === 'string' ? writeText(out, part) : writePart(out, part)
  }
  return endsWithText
}

function writePart(out: BlockHasher, part: Json): boolean {
  if (!isObject(part)) return false
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return writeText(out, stringOr(part.text, ''))
    case 'refusal':
      return writeText(out, stringOr(part.refusal, ''))
    case 'thinking':
    case 'redacted_thinking':
    case 'reasoning':
      return false
    case 'tool_use':
      writeToolCall(out, stringOr(part.name, ''), part.input)
      return false
    case 'tool_result':
      out.tag(promptTag.toolResult)
      writeResult(out, part.content)
      return false
    default:
      if (!writeMedia(out, part)) {
        out.tag(promptTag.otherPart)
        writeJson(out, part)
      }
      return false
  }
}

/** Results hold no results: what claims to be one is written as the JSON it is. */
function writeResult(out: BlockHasher, content: Json | undefined): void {
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === 'string') writeText(out, part)
    else if (isObject(part) && part.type !== 'tool_result') writePart(out, part)
    else if (part !== undefined && part !== null) writeJson(out, part)
  }
}

export function writeRole(out: BlockHasher, role: string): void {
  out.tag(promptTag.message)
  out.text(role)
}

/** An empty text leaves no trace: clients write it as '', as null, or not at all. */
export function writeText(out: BlockHasher, text: string): boolean {
  const kept = startsWithMark(text) ? withoutFirstLine(wholeText(text)) : text
  if (kept === '') return false
  out.tag(promptTag.text)
  out.text(kept)
  return true
}

function startsWithMark(text: string): boolean {
  return text.startsWith(billingMark) || setAsideStartsWith(text, billingMarkBytes)
}

function withoutFirstLine(text: string): string {
  const end = text.indexOf('\n')
  return end < 0 ? '' : text.slice(end + 1)
}

/** Arguments are JSON text in one API and a value in another, and clients re-indent them. */
export function writeToolCall(out: BlockHasher, name: string, args: Json | undefined): void {
  out.tag(promptTag.toolCall)
  out.text(name)
  out.tag(promptTag.toolArguments)
  // A failed parse costs some microseconds, so what is no object is not tried.
  const text = typeof args === 'string' ? wholeText(args) : ''
  const parsed = /^\s*\{/.test(text) ? parseJson(text) : args
  if (isObject(parsed)) writeJson(out, parsed)
  else out.text(text)
}
