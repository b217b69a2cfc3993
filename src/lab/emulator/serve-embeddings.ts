import type { ServerResponse } from 'node:http'
import { seededRandom } from '../../base/random.ts'
import { unixTimeMs } from '../../io/real-time.ts'
import { AnswerWriter } from './answer-writer.ts'
import { ApiError, missingField } from './api-error.ts'
import type { Generation } from './emulated-engine.ts'
import type { EngineProcess } from './engine-process.ts'
import { writeHead } from './http-answer.ts'
import { isObject, type JsonObject } from './json.ts'
import { bytesOfTokens, textHash, tokenCount } from './pseudo-tokens.ts'

const dimensions = 16

/** `/v1/embeddings`: a prefill of each input, and a vector made of its hash. */
export function serveEmbeddings(
  process: EngineProcess,
  body: JsonObject,
  response: ServerResponse,
): void {
  process.checkModel(typeof body.model === 'string' ? body.model : undefined)
  const inputs = inputsOf(body)
  const generations: Generation[] = []
  let running = inputs.length
  const { faults } = process
  const writer = new AnswerWriter(response, faults, process.options.wall)
  const finish = (): void => {
    running -= 1
    if (running > 0) return
    const text = JSON.stringify(embeddingsBody(process, inputs))
    const length = faults.gzip === true ? { 'content-encoding': 'gzip' } : lengthOf(text)
    writeHead(response, 200, { 'content-type': 'application/json', ...length })
    writer.event(text, () => [text])
    writer.end()
  }
  process.whenAwake(() => {
    const limits = { maxTokens: 1, minTokens: 1, ignoreEos: true }
    for (const input of inputs) {
      generations.push(process.engine.generate(input, limits, 0, finish))
    }
  })
  response.on('close', () => {
    if (faults.ignoreAborts !== true) for (const generation of generations) generation.abort()
  })
}

function lengthOf(text: string): Record<string, number> {
  return { 'content-length': Buffer.byteLength(text) }
}

function inputsOf(body: JsonObject): Buffer[] {
  const { input } = body
  if (input === undefined) throw missingField('input', Object.keys(body).length)
  const list = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  return list.map((item) => {
    if (typeof item === 'string') return Buffer.from(item)
    if (Array.isArray(item)) return bytesOfTokens(item.map(Number))
    const message = isObject(item) ? 'input items must be text or token ids' : 'bad input'
    throw new ApiError(400, 'BadRequestError', message, 'input')
  })
}

function embeddingsBody(process: EngineProcess, inputs: readonly Buffer[]): object {
  const tokens = inputs.reduce((sum, input) => sum + tokenCount(input.length), 0)
  return {
    id: `embd-${process.newId()}`,
    object: 'list',
    created: Math.floor(unixTimeMs() / 1000),
    model: process.options.models[0],
    data: inputs.map((input, index) => ({
      index,
      object: 'embedding',
      embedding: vectorOf(input),
    })),
    usage: {
      prompt_tokens: tokens,
      total_tokens: tokens,
      completion_tokens: 0,
      prompt_tokens_details: null,
    },
  }
}

/** The same text always has the same vector, of length one. */
function vectorOf(input: Buffer): number[] {
  const random = seededRandom(textHash(input))
  const vector = Array.from({ length: dimensions }, () => 2 * random.next() - 1)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
