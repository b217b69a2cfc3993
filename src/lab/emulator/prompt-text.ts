import { isObject, type JsonObject } from './json.ts'

/** What opens the assistant's turn: the prompt ends with it, and the answer follows it. */
const assistantOpening = '<|im_start|>assistant\n'
export const turnEnd = '<|im_end|>\n'

/**
 * The text that a request's conversation becomes, in the manner of a ChatML template. Only fields
 * that reach a model take part, so that marks such as `cache_control` change nothing.
 */
export function conversationText(messages: readonly unknown[], tools: unknown): string {
  return `${toolsText(tools)}${messages.map(messageText).join('')}${assistantOpening}`
}

function toolsText(tools: unknown): string {
  if (!Array.isArray(tools) || tools.length === 0) return ''
  const listed = tools.map((tool) => {
    const described = isObject(tool) && isObject(tool.function) ? tool.function : tool
    if (!isObject(described)) return ''
    const { name, description, parameters, input_schema: schema } = described
    return `${JSON.stringify({ name, description, parameters: parameters ?? schema })}\n`
  })
  return turn('system', `# Tools\n${listed.join('')}`)
}

function turn(role: string, text: string): string {
  return `<|im_start|>${role}\n${text}${turnEnd}`
}

function messageText(message: unknown): string {
  if (!isObject(message)) return ''
  // Items of the Responses API that are no messages: calls, their outputs, reasoning.
  if (typeof message.role !== 'string') return turn(String(message.type), itemText(message))
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(callText).join('') : ''
  return turn(message.role, `${contentText(message.content)}${calls}`)
}

function itemText(item: JsonObject): string {
  if (item.type === 'function_call') return callText({ function: item })
  if (item.type === 'function_call_output') return contentText(item.output)
  return ''
}

function callText(call: unknown): string {
  if (!isObject(call) || !isObject(call.function)) return ''
  return `<tool_call>${call.function.name} ${call.function.arguments}</tool_call>`
}

/** Text of a `content` field: a string, or a list of parts in OpenAI's or Anthropic's shape. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(partText).join('')
}

function partText(part: unknown): string {
  if (!isObject(part)) return ''
  if (typeof part.text === 'string') return part.text
  if (part.type === 'tool_use') {
    return callText({ function: { name: part.name, arguments: JSON.stringify(part.input) } })
  }
  if (part.type === 'tool_result') return contentText(part.content)
  const { image_url: imageUrl, source, input_audio: audio } = part
  return `<|media|>${JSON.stringify(imageUrl ?? source ?? audio ?? null)}`
}
