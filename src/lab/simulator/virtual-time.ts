import type { Scheduler } from '../../base/scheduler.ts'

interface Entry {
  readonly atMs: number
  /** Order of scheduling, so that simultaneous callbacks run as they were asked for. */
  readonly order: number
  run: (() => void) | null
}

/** A clock that jumps from one callback to the next: a binary heap by time. */
export class VirtualTime implements Scheduler {
  #nowMs = 0
  #orders = 0
  readonly #heap: Entry[] = []

  nowMs(): number {
    return this.#nowMs
  }

  at(atMs: number, run: () => void): () => void {
    const entry: Entry = { atMs: Math.max(atMs, this.#nowMs), order: this.#orders++, run }
    this.#heap.push(entry)
    this.#siftUp(this.#heap.length - 1)
    return () => {
      entry.run = null
    }
  }

  /** Runs the next callback; false when none is left. */
  step(): boolean {
    for (;;) {
      const entry = this.#pop()
      if (entry === undefined) return false
      if (entry.run === null) continue
      this.#nowMs = entry.atMs
      entry.run()
      return true
    }
  }

  #pop(): Entry | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || first === last) return first
    heap[0] = last
    this.#siftDown(0)
    return first
  }

  #siftUp(from: number): void {
    const heap = this.#heap
    const entry = heap[from]!
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!before(entry, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = entry
  }

  #siftDown(from: number): void {
    const heap = this.#heap
    const entry = heap[from]!
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && before(heap[below + 1]!, heap[below]!)) below++
      if (!before(heap[below]!, entry)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = entry
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}
