import type { Scheduler } from '../../base/scheduler.ts'
import type { EngineModel } from './engine-model.ts'
import type { RequestProgress } from './engine-report.ts'
import type { EngineRequest, RequestId, RequestRecord } from './request.ts'

/** Steps taken in one callback when the clock has run ahead; others must get their turn too. */
const catchUpStepsMax = 64

/**
 * Drives an engine model on a scheduler, real or virtual. Where real time is late, the model's own
 * times are not: the next step begins when the last one ended, so that lateness does not add up.
 */
export class EngineLoop {
  readonly #model: EngineModel
  readonly #scheduler: Scheduler
  readonly #onProgress: (progress: RequestProgress) => void
  #armedMs: number | undefined
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(
    model: EngineModel,
    scheduler: Scheduler,
    onProgress: (progress: RequestProgress) => void,
  ) {
    this.#model = model
    this.#scheduler = scheduler
    this.#onProgress = onProgress
  }

  submit(request: EngineRequest): RequestRecord {
    const record = this.#model.submit(request, this.#scheduler.nowMs())
    this.#arm()
    return record
  }

  abort(id: RequestId): boolean {
    const known = this.#model.abort(id, this.#scheduler.nowMs())
    this.#arm()
    return known
  }

  /** The engine dies: nothing happens any more. */
  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #arm(): void {
    const wakeMs = this.#model.wakeMs
    if (this.#stopped || wakeMs === this.#armedMs) return
    this.#cancel?.()
    this.#armedMs = wakeMs
    this.#cancel = wakeMs === undefined ? undefined : this.#scheduler.at(wakeMs, () => this.#wake())
  }

  #wake(): void {
    this.#armedMs = undefined
    this.#cancel = undefined
    const nowMs = this.#scheduler.nowMs()
    for (let step = 0; step < catchUpStepsMax && !this.#stopped; step++) {
      const wakeMs = this.#model.wakeMs
      if (wakeMs === undefined || wakeMs > nowMs) break
      for (const progress of this.#model.advance()) this.#onProgress(progress)
    }
    this.#arm()
  }
}
