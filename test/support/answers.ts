/** Helpers for tests that read answers. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type AnswerReader, answerReader } from '../../src/protocol/answer-reader.ts'
import type { Api } from '../../src/protocol/api.ts'
import type { PromptRead } from '../../src/protocol/prompt-hasher.ts'
import { hashesOf, readOk } from './prompts.ts'

export const eventStream = 'text/event-stream; charset=utf-8'

/** Bytes recorded from a real engine: `vllm-0.32.0/chat.sse`. */
export function golden(name: string): Buffer {
  return readFileSync(new URL(`../goldens/${name}`, import.meta.url))
}

/** Reads a whole answer, in pieces of the given size. */
export function readAnswer(
  api: Api,
  contentType: string,
  body: Buffer | string,
  options: { prompt?: PromptRead; pieceBytes?: number } = {},
): AnswerReader {
  const reader = answerReader(api, contentType, 200, options.prompt ?? null)
  const bytes = Buffer.from(body)
  const step = options.pieceBytes ?? Math.max(1, bytes.length)
  for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step))
  reader.end()
  return reader
}

/** Server-sent events from JSON values and plain texts such as `[DONE]`. */
export function events(...data: (object | string)[]): string {
  const texts = data.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  return texts.map((text) => `data: ${text}\n\n`).join('')
}

/** A chat chunk with this delta. */
export function chunk(delta: object, rest: object = {}): object {
  const choice = { index: 0, delta, logprobs: null, finish_reason: null }
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [choice], ...rest }
}

const question = { role: 'user', content: 'x'.repeat(600) }

/** A prompt whose answer can be continued. */
export function chatPrompt(): PromptRead {
  return readOk('chat', { model: 'm', messages: [question] }).prompt
}

/** Asserts that the answer read is the one that the next turn would send back as this message. */
export function assertAnswered(reader: AnswerReader, message: object): void {
  const next = readOk('chat', {
    model: 'm',
    messages: [question, { role: 'assistant', ...message }],
  })
  const answered = reader.answered()
  assert.ok(answered !== null)
  assert.equal(answered.bytes, next.prompt.bytes)
  assert.deepEqual(hashesOf(answered.chain), hashesOf(next.prompt.chain))
}
