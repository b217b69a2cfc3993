/** Reads along an answer's bytes. It never touches, holds or delays them. */
import type { BlockChain } from '../core/block-chain.ts'
import type { Usage } from '../core/events.ts'
import type { Api } from './api.ts'
import type { PromptRead } from './prompt-hasher.ts'

export interface AnswerReader {
  /** Takes the next decoded bytes of the body, cut anywhere. */
  push(payload: Buffer): void
  /** The body ended, whole or not. */
  end(): void
  /** A content, reasoning, tool or unknown delta came; a role alone or an empty chunk is none. */
  readonly firstTokenSeen: boolean
  /** Events so far that carried output. */
  readonly outputEvents: number
  readonly usage: Usage
  /** The message of an error event in the stream; null when there was none. */
  readonly errorEvent: string | null
  /** The answer's own end mark was seen: its absence at the end of the body means truncation. */
  readonly complete: boolean
  /** The id under which the engine stored the response (responses API); null otherwise. */
  readonly responseId: string | null
  /** An event or body was larger than the reader keeps; from there on it understands nothing. */
  readonly gaveUp: boolean
  /** The prompt with its answer behind it, as the next turn will send it; null when unknown. */
  answered(): { readonly chain: BlockChain; readonly bytes: number } | null
}

/** A reader for one answer; a neutral one for a content type that it does not know. */
export function answerReader(
  _api: Api,
  _contentType: string,
  _status: number,
  _prompt: PromptRead | null,
): AnswerReader {
  throw new Error('answerReader is being written')
}
