/** What the readers of all known content have in common: the state that their texts fill. */
import type { Usage } from '../core/events.ts'
import { readAnswerEvent } from './answer-event.ts'
import { AnswerState, type Fragment } from './answer-state.ts'
import { isObject, type Json } from './json.ts'
import type { HashedPrompt, PromptRead } from './prompt-hasher.ts'

export abstract class StateReader {
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
