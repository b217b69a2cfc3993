/** Reads along an answer's bytes. It never touches, holds or delays them. */
import type { Usage } from '../core/events.ts'
import type { Api } from './api.ts'
import { JsonReader } from './json-reader.ts'
import { LinesReader } from './lines-reader.ts'
import type { HashedPrompt, PromptRead } from './prompt-hasher.ts'
import { StreamReader } from './stream-reader.ts'

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
  /** The message of an error in an answer of status 200; null when there was none. */
  readonly errorEvent: string | null
  /**
   * The answer's own end was seen: its absence at the end of the body means truncation. Always
   * true where the reader cannot tell, because it gave up or does not know the content.
   */
  readonly complete: boolean
  /** The id under which the engine knows the response (responses API); null otherwise. */
  readonly responseId: string | null
  /** An event was larger than the reader keeps; from there on it understands nothing. */
  readonly gaveUp: boolean
  /** The prompt with its answer behind it, as the next turn will send it; null when unknown. */
  answered(): HashedPrompt | null
}

/** A reader for one answer; one that understands nothing for content that it does not know. */
export function answerReader(
  api: Api,
  contentType: string,
  status: number,
  prompt: PromptRead | null,
): AnswerReader {
  if (status < 200 || status > 299) return new OpaqueReader(false)
  const semicolon = contentType.indexOf(';')
  const type = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
  switch (type) {
    case 'text/event-stream':
      return new StreamReader(prompt)
    case 'application/x-ndjson':
    case 'application/jsonl':
      return new LinesReader(prompt)
    case 'application/json':
      return new JsonReader(prompt, api !== 'embeddings' && api !== 'other')
    default:
      return new OpaqueReader(true)
  }
}

/** Counts nothing and accuses nobody. Its first byte is its first token. */
class OpaqueReader implements AnswerReader {
  firstTokenSeen = false
  readonly outputEvents = 0
  readonly usage: Usage = { promptTokens: null, outputTokens: null, cachedTokens: null }
  readonly errorEvent = null
  readonly complete = true
  readonly responseId = null
  readonly gaveUp = false
  readonly #firstByteCounts: boolean

  constructor(firstByteCounts: boolean) {
    this.#firstByteCounts = firstByteCounts
  }

  push(payload: Buffer): void {
    if (payload.length > 0 && this.#firstByteCounts) this.firstTokenSeen = true
  }

  end(): void {}

  answered(): null {
    return null
  }
}
