/** Reads along an answer's bytes. It never touches, holds or delays them. */
import type { Usage } from '../core/events.ts'
import { readAnswerEvent } from './answer-event.ts'
import { AnswerState, type Fragment } from './answer-state.ts'
import type { Api } from './api.ts'
import { holdsAt } from './bytes.ts'
import { EventSplitter } from './event-splitter.ts'
import { EventTemplate, type Fit } from './event-template.ts'
import { isObject, type Json, parseJson } from './json.ts'
import { protocolLimits } from './limits.ts'
import type { HashedPrompt, PromptRead } from './prompt-hasher.ts'
import { findTailUsage } from './tail-usage.ts'

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

abstract class StateReader implements AnswerReader {
  protected readonly state = new AnswerState()
  readonly #prompt: PromptRead | null

  constructor(prompt: PromptRead | null) {
    this.#prompt = prompt
  }

  abstract push(payload: Buffer): void
  abstract end(): void
  abstract readonly gaveUp: boolean

  get firstTokenSeen(): boolean {
    return this.state.outputEvents > 0
  }

  get outputEvents(): number {
    return this.state.outputEvents
  }

  get usage(): Usage {
    return this.state.tally.usage
  }

  get errorEvent(): string | null {
    return this.state.errorEvent
  }

  get complete(): boolean {
    return this.state.complete || this.gaveUp
  }

  get responseId(): string | null {
    return this.state.responseId
  }

  answered(): HashedPrompt | null {
    const { state } = this
    if (this.#prompt === null || !state.complete || state.errorEvent !== null) return null
    const answer = state.parts.whole()
    return answer === null ? null : this.#prompt.hasher.continueWithAnswer(answer)
  }

  protected read(json: Json | undefined): Fragment | null {
    this.state.beginEvent()
    if (isObject(json)) readAnswerEvent(this.state, json)
    return this.state.endEvent()
  }
}

const dataHead = Buffer.from('data: ')
const blankLine = Buffer.from('\n\n')
const doneMark = Buffer.from('[DONE]')

class StreamReader extends StateReader {
  readonly #template = new EventTemplate()
  readonly #fit: Fit = { start: 0, end: 0 }
  readonly #splitter = new EventSplitter((bytes, start, end, name) =>
    this.#event(bytes, start, end, name === 'error'),
  )

  get gaveUp(): boolean {
    return this.#splitter.gaveUp
  }

  push(payload: Buffer): void {
    if (!this.#isOneFittingEvent(payload)) this.#splitter.push(payload)
  }

  /** The commonest write by far: one whole event like the one before. It needs no splitting. */
  #isOneFittingEvent(payload: Buffer): boolean {
    const end = payload.length - blankLine.length
    if (!this.#splitter.between || !holdsAt(payload, end, blankLine)) return false
    if (!holdsAt(payload, 0, dataHead)) return false
    if (!this.#template.fits(payload, dataHead.length, end, this.#fit)) return false
    this.#fragmentFits(payload)
    return true
  }

  /** An event without its blank line is no event. */
  end(): void {}

  #event(bytes: Buffer, start: number, end: number, isError: boolean): void {
    if (this.#template.fits(bytes, start, end, this.#fit)) {
      this.#fragmentFits(bytes)
      return
    }
    if (end - start === doneMark.length && holdsAt(bytes, start, doneMark)) {
      this.state.complete = true
      return
    }
    const json = parseJson(bytes.toString('utf8', start, end))
    const fragment = this.read(json)
    if (isError && this.state.errorEvent === null) {
      this.state.failed(bytes.toString('utf8', start, end))
    }
    if (fragment !== null && fragment.text !== '') {
      this.#template.learn(bytes, start, end, fragment, readAlone)
    }
  }

  #fragmentFits(bytes: Buffer): void {
    const { start, end } = this.#fit
    if (start === end) return
    this.state.outputEvents++
    const part = this.#template.fragment?.part ?? null
    if (part !== null) this.state.parts.raw(part, bytes, start, end)
  }
}

/** What an event would have brought to an answer that has nothing yet. */
function readAlone(json: Json | undefined): Fragment | null {
  const state = new AnswerState()
  state.beginEvent()
  if (isObject(json)) readAnswerEvent(state, json)
  return state.endEvent()
}

/** Ollama's own API: one JSON text a line. */
class LinesReader extends StateReader {
  #rest = ''
  #gaveUp = false
  readonly #decoder = new TextDecoder()

  get gaveUp(): boolean {
    return this.#gaveUp
  }

  push(payload: Buffer): void {
    if (this.#gaveUp) return
    const lines = (this.#rest + this.#decoder.decode(payload, { stream: true })).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') this.read(parseJson(line))
    if (this.#rest.length > protocolLimits.eventBytesMax) {
      this.#gaveUp = true
      this.#rest = ''
    }
  }

  end(): void {
    if (this.#rest !== '') this.read(parseJson(this.#rest))
    this.#rest = ''
  }
}

/** A body that is one JSON text. A large one is only looked at near its end, for usage. */
class JsonReader extends StateReader {
  #chunks: Buffer[] = []
  #bytes = 0
  #whole: boolean
  readonly gaveUp = false

  constructor(prompt: PromptRead | null, whole: boolean) {
    super(prompt)
    this.#whole = whole
  }

  push(payload: Buffer): void {
    this.#chunks.push(payload)
    this.#bytes += payload.length
    if (this.#bytes > protocolLimits.jsonBodyBytesMax) this.#whole = false
    if (this.#whole) return
    const first = this.#chunks[0].length
    if (this.#chunks.length > 1 && this.#bytes - first >= protocolLimits.jsonTailBytes) {
      this.#chunks = [Buffer.concat(this.#chunks).subarray(-protocolLimits.jsonTailBytes)]
      this.#bytes = protocolLimits.jsonTailBytes
    }
  }

  end(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#chunks = []
    if (!this.#whole) {
      this.#readTail(body.toString('utf8', Math.max(0, body.length - protocolLimits.jsonTailBytes)))
      return
    }
    const json = parseJson(body.toString())
    if (json === undefined) return
    this.read(json)
    this.state.complete = true
  }

  #readTail(tail: string): void {
    const trimmed = tail.trimEnd()
    if (!trimmed.endsWith('}') && !trimmed.endsWith(']')) return
    this.state.complete = true
    this.state.outputEvents = 1
    this.state.tally.read(findTailUsage(trimmed))
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
