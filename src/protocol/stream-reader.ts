/** An answer as server-sent events. */
import { readAnswerEvent } from './answer-event.ts'
import { AnswerState, type Fragment } from './answer-state.ts'
import { holdsAt } from './bytes.ts'
import { EventSplitter } from './event-splitter.ts'
import { EventTemplate, type Fit } from './event-template.ts'
import { isObject, type Json, parseJson } from './json.ts'
import { StateReader } from './state-reader.ts'

const dataHead = Buffer.from('data: ')
const blankLine = Buffer.from('\n\n')
const doneMark = Buffer.from('[DONE]')

export class StreamReader extends StateReader {
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
