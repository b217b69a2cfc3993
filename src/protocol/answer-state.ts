/** What has been learned of an answer so far. */
import { AnswerParts } from './answer-parts.ts'
import { protocolLimits } from './limits.ts'
import { UsageTally } from './usage-tally.ts'

/** The one fragment of text in an event, where that is all the event brought. */
export interface Fragment {
  /** The key of the JSON string that holds it. */
  readonly field: string
  readonly text: string
  /** The part that it belongs to; null for output that no prompt will hold, such as reasoning. */
  readonly part: number | null
}

export class AnswerState {
  readonly tally = new UsageTally()
  readonly parts = new AnswerParts()
  outputEvents = 0
  errorEvent: string | null = null
  complete = false
  responseId: string | null = null
  /** The output of the event being read. */
  #fragment: Fragment | null = null
  #outputs = 0
  #plain = true

  beginEvent(): void {
    this.#fragment = null
    this.#outputs = 0
    this.#plain = true
  }

  /** Counts the event if it brought output; returns its fragment if that was all it brought. */
  endEvent(): Fragment | null {
    if (this.#outputs > 0) this.outputEvents++
    return this.#plain && this.#outputs === 1 ? this.#fragment : null
  }

  text(part: number, field: string, text: string): void {
    this.parts.text(part, text)
    this.#output({ field, text, part })
  }

  toolCall(part: number, name: string, field: string, text: string): void {
    this.parts.toolCall(part, name, text)
    this.#output(name === '' ? { field, text, part } : null)
  }

  /** Reasoning, or something unknown: output, but no part of the answer. */
  otherOutput(field: string, value: unknown): void {
    this.#output(typeof value === 'string' ? { field, text: value, part: null } : null)
  }

  failed(message: string): void {
    this.#plain = false
    this.errorEvent ??= message.slice(0, protocolLimits.errorMessageCharsMax)
  }

  completed(): void {
    this.#plain = false
    this.complete = true
  }

  /** The event said something beside its output, so that the next one is not like it. */
  notPlain(): void {
    this.#plain = false
  }

  #output(fragment: Fragment | null): void {
    this.#outputs++
    this.#fragment = fragment
  }
}
