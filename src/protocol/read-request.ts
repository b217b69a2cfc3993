/** What the router needs to know of a request body, read in one parse. */
import type { Api } from './api.ts'
import type { PromptRead } from './prompt-hasher.ts'

/** Byte offsets in a body: `start` inclusive, `end` exclusive. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

export interface RequestRead {
  readonly api: Api
  readonly model: string | null
  /** The model's JSON string with its quotes, for `spliceModel`; null when there is none. */
  readonly modelSpan: ByteSpan | null
  readonly streaming: boolean
  readonly maxOutputTokens: number | null
  /** The engine stores something for this request: it must never be sent twice. */
  readonly storesState: boolean
  readonly previousResponseId: string | null
  /** The client asked for usage in the stream, or the API always sends it. */
  readonly wantsUsage: boolean
  readonly prompt: PromptRead
}

export type ReadOutcome =
  | { readonly ok: true; readonly request: RequestRead }
  | {
      readonly ok: false
      readonly reason: 'not-json' | 'not-an-object' | 'unknown-shape'
      /** For the client or the log, in a sentence. */
      readonly message: string
      /** The model, where it could still be read. */
      readonly model: string | null
    }

/**
 * Reads one body. `namespace` separates the prompts of those who must not share a cache (a salt
 * derived from the caller's identity); '' for none.
 */
export function readRequest(_api: Api, _body: Buffer, _namespace: string): ReadOutcome {
  throw new Error('readRequest is being written')
}

/** The body with another model in place of the one at `span`: pieces that share its memory. */
export function spliceModel(body: Buffer, span: ByteSpan, model: string): Buffer[] {
  const quoted = Buffer.from(JSON.stringify(model))
  return [body.subarray(0, span.start), quoted, body.subarray(span.end)]
}
