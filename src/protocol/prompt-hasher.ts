/** A prompt's canonical stream, hashed, and the state from which its answer goes on. */
import type { BlockChain } from '../core/block-chain.ts'
import type { Api } from './api.ts'
import { BlockHasher, type HasherState } from './block-hasher.ts'
import { writeRole, writeText, writeToolCall } from './canonical-message.ts'
import { type PromptEnd, writePrompt } from './canonical-prompt.ts'
import { type JsonObject, stringOr } from './json.ts'
import { promptTag } from './prompt-tags.ts'

/** A piece of an answer, as the client sends it back in the next turn. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly name: string; readonly arguments: string }

export interface HashedPrompt {
  readonly chain: BlockChain
  /** Length of the canonical stream, of which the chain holds the whole blocks. */
  readonly bytes: number
}

/** The state of a prompt's hash after its last byte. */
export interface PromptHasher {
  /**
   * What the next turn's prompt begins with when the client sends the answer back. Reasoning is no
   * part of an answer: it is not sent back. Null where no prompt can follow from this one.
   */
  continueWithAnswer(answer: readonly AnswerPart[]): HashedPrompt | null
}

export interface PromptRead extends HashedPrompt {
  readonly hasher: PromptHasher
}

/** Shared: no stream is ever open across two calls. */
const hasher = new BlockHasher()

/** Hashes the prompt of a body; null when the body has not the shape of the API. */
export function readPrompt(api: Api, body: JsonObject, namespace: string): PromptRead | null {
  hasher.start(0, 0)
  writeSeed(body, namespace)
  const seed = hasher.digest()
  hasher.start(seed.lo, seed.hi)
  const end = writePrompt(hasher, api, body)
  return end === null ? null : new ReadPrompt(hasher.state(), end)
}

/** Each name has a tag of its own: an adapter named like another's salt is not that salt. */
function writeSeed(body: JsonObject, namespace: string): void {
  const names: [number, string][] = [
    [promptTag.model, stringOr(body.model, '')],
    [promptTag.adapter, stringOr(body.lora_path, '')],
    [promptTag.salt, stringOr(body.cache_salt, '')],
    [promptTag.namespace, namespace],
  ]
  for (const [tag, name] of names) {
    hasher.tag(tag)
    hasher.text(name)
  }
}

class ReadPrompt implements PromptRead, PromptHasher {
  readonly #state: HasherState
  readonly #end: PromptEnd

  constructor(state: HasherState, end: PromptEnd) {
    this.#state = state
    this.#end = end
  }

  get chain(): BlockChain {
    return this.#state.chain
  }

  get bytes(): number {
    return this.#state.bytes
  }

  get hasher(): PromptHasher {
    return this
  }

  continueWithAnswer(answer: readonly AnswerPart[]): HashedPrompt | null {
    if (this.#end === 'unknown') return null
    hasher.resume(this.#state)
    if (this.#end === 'new-turn') writeRole(hasher, 'assistant')
    answer.forEach((part, index) => {
      if (part.type === 'tool-call') writeToolCall(hasher, part.name, part.arguments)
      else if (index === 0 && this.#end === 'same-text') hasher.text(part.text)
      else writeText(hasher, part.text)
    })
    return { chain: hasher.chain(), bytes: hasher.bytes }
  }
}
