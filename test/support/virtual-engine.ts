/** An engine in virtual time that a calibration can ask: no sockets, and no noise. */
import { emptyChain } from '../../src/core/block-chain.ts'
import type { CallSample, EngineCall } from '../../src/lab/calibrate/engine-under-test.ts'
import { chainOfBytes, tokenCount } from '../../src/lab/emulator/pseudo-tokens.ts'
import { EngineLoop } from '../../src/lab/engine/engine-loop.ts'
import { EngineModel } from '../../src/lab/engine/engine-model.ts'
import type { EngineProfile } from '../../src/lab/engine/profile.ts'
import { VirtualTime } from '../../src/lab/simulator/virtual-time.ts'

interface OpenCall {
  readonly outputMs: number[]
  readonly resolve: (sample: CallSample) => void
}

export interface VirtualManners {
  /** Answers do not say how much was cached. */
  readonly silent?: boolean
  /** Nothing is ever found cached. */
  readonly forgetful?: boolean
}

export class VirtualEngine {
  readonly time = new VirtualTime()
  readonly model: EngineModel
  readonly #loop: EngineLoop
  readonly #open = new Map<number, OpenCall>()
  readonly #manners: VirtualManners
  #ids = 0

  constructor(profile: EngineProfile, manners: VirtualManners = {}) {
    this.#manners = manners
    this.model = new EngineModel(profile)
    this.#loop = new EngineLoop(this.model, this.time, ({ record, finished }) => {
      const open = this.#open.get(record.id as number)!
      open.outputMs.push(this.time.nowMs() - record.submittedMs)
      if (!finished) return
      const { promptTokens, submittedMs: sentMs, cachedGpuTokens } = record
      const { outputMs } = open
      const cachedTokens = this.#manners.silent ? null : cachedGpuTokens
      const outputTokens = outputMs.length
      open.resolve({ promptTokens, cachedTokens, outputTokens, sentMs, outputMs })
    })
  }

  call({ prompt, outputTokens }: EngineCall): Promise<CallSample> {
    const bytes = Buffer.from(prompt)
    const { forgetful } = this.#manners
    const chain = forgetful ? emptyChain : chainOfBytes(bytes, this.model.profile.blockTokens)
    const id = this.#ids++
    return new Promise((resolve) => {
      this.#open.set(id, { outputMs: [], resolve })
      this.#loop.submit({ id, chain, promptTokens: tokenCount(bytes.length), outputTokens })
    })
  }

  /** Lets time pass until the promise is settled. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    let settled = false
    const settle = (): void => {
      settled = true
    }
    promise.then(settle, settle)
    for (;;) {
      // Everything that waits for the last event gets its turn before the next.
      await new Promise((resolve) => setImmediate(resolve))
      if (settled) return promise
      if (!this.time.step()) throw new Error('nothing happens any more')
    }
  }
}
