import type { Sequence } from './request.ts'

/**
 * The engine's queue: first come, first served, and a preempted sequence goes back to the front.
 * Unbounded, as engines' queues are by default. Leaving the middle is O(1): the place stays until
 * it comes to the front.
 */
export class WaitingQueue {
  #items: (Sequence | undefined)[] = []
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(sequence: Sequence): void {
    sequence.state = 'waiting'
    this.#items.push(sequence)
    this.#length += 1
  }

  pushFront(sequence: Sequence): void {
    sequence.state = 'waiting'
    if (this.#head > 0) {
      this.#head -= 1
      this.#items[this.#head] = sequence
    } else {
      this.#items.unshift(sequence)
    }
    this.#length += 1
  }

  /** The sequence whose turn it is. */
  peek(): Sequence | undefined {
    const items = this.#items
    while (this.#head < items.length && items[this.#head]?.state !== 'waiting') {
      items[this.#head] = undefined
      this.#head += 1
    }
    if (this.#head > 1024 && this.#head * 2 > items.length) {
      this.#items = items.slice(this.#head)
      this.#head = 0
    }
    return this.#items[this.#head]
  }

  /** Takes the sequence that `peek` showed. */
  shift(): void {
    this.#items[this.#head] = undefined
    this.#head += 1
    this.#length -= 1
  }

  /** A waiting sequence leaves; its state is set to `over`. */
  leave(sequence: Sequence): void {
    sequence.state = 'over'
    this.#length -= 1
  }
}
