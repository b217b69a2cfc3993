/** A prompt's canonical bytes, hashed block by block. */
import type { BlockChain } from '../core/block-chain.ts'

export interface ToolCall {
  readonly name: string
  /** JSON text, as the engine wrote it. */
  readonly arguments: string
}

/** What an engine answered, as far as the client sends it back in the next turn. */
export interface Answer {
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
}

/** The state of a prompt's hash after its last byte. */
export interface PromptHasher {
  /** The chain that the next turn's prompt begins with, when the client sends the answer back. */
  continueWithAnswer(answer: Answer): { readonly chain: BlockChain; readonly bytes: number }
}

export interface PromptRead {
  readonly chain: BlockChain
  /** Length of the canonical byte stream, of which the chain holds the whole blocks. */
  readonly bytes: number
  readonly hasher: PromptHasher
}
