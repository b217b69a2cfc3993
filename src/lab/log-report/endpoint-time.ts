import type { EndpointRecord } from '../../observe/decision-record.ts'

/** How long endpoints were there, so that they can be paid for. */
export class EndpointTime {
  readonly #since = new Map<string, number>()
  #ms = 0

  heard({ endpoint, present }: EndpointRecord, wallMs: number): void {
    const since = this.#since.get(endpoint)
    if (present) {
      // An endpoint that describes itself anew, or joins a restarted router, was there already.
      if (since === undefined) this.#since.set(endpoint, wallMs)
    } else if (since !== undefined) {
      this.#ms += Math.max(0, wallMs - since)
      this.#since.delete(endpoint)
    }
  }

  /** Of all endpoints together, hours, until then. */
  hours(untilMs: number): number {
    let ms = this.#ms
    for (const since of this.#since.values()) ms += Math.max(0, untilMs - since)
    return ms / 3_600_000
  }
}
