import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scheduler } from '../../base/scheduler.ts'
import { emptyChain } from '../../core/block-chain.ts'
import { EngineLoop } from './engine-loop.ts'
import { EngineModel } from './engine-model.ts'
import type { RequestProgress } from './engine-report.ts'
import { profileNamed } from './profiles.ts'

/** A clock that the test moves; callbacks run when it passes them, and late by `lateMs`. */
class ManualScheduler implements Scheduler {
  #nowMs = 0
  readonly #due: { atMs: number; run: () => void }[] = []

  nowMs(): number {
    return this.#nowMs
  }

  at(atMs: number, run: () => void): () => void {
    const entry = { atMs, run }
    this.#due.push(entry)
    return () => {
      const place = this.#due.indexOf(entry)
      if (place >= 0) this.#due.splice(place, 1)
    }
  }

  get pending(): number {
    return this.#due.length
  }

  /** Runs what is due until nothing is left. */
  run(lateMs: number): void {
    for (;;) {
      this.#due.sort((a, b) => a.atMs - b.atMs)
      const next = this.#due.shift()
      if (next === undefined) return
      this.#nowMs = Math.max(this.#nowMs, next.atMs + lateMs)
      next.run()
    }
  }
}

const profile = profileNamed('llama-3.1-8b-h100')
const request = (id: string) => ({ id, chain: emptyChain, promptTokens: 100, outputTokens: 50 })

function finishedMs(lateMs: number): number {
  const scheduler = new ManualScheduler()
  const seen: RequestProgress[] = []
  const loop = new EngineLoop(new EngineModel(profile), scheduler, (progress) => {
    seen.push(progress)
  })
  loop.submit(request('a'))
  scheduler.run(lateMs)
  assert.equal(seen.length, 50)
  assert.ok(seen[49].finished)
  return seen[49].atMs
}

test('late timers do not add up: the engine keeps its own time', () => {
  assert.equal(finishedMs(3), finishedMs(0))
  assert.equal(finishedMs(500), finishedMs(0))
})

test('an abort in the middle ends the request, and the engine falls idle', () => {
  const scheduler = new ManualScheduler()
  const loop = new EngineLoop(new EngineModel(profile), scheduler, ({ record }) => {
    if (record.generatedTokens === 10) loop.abort('a')
  })
  const record = loop.submit(request('a'))
  scheduler.run(0)
  assert.equal(record.generatedTokens, 10)
  assert.equal(record.finishedMs, undefined)
  assert.equal(loop.abort('a'), false)
  assert.equal(scheduler.pending, 0)
})

test('a stopped engine says nothing more', () => {
  const scheduler = new ManualScheduler()
  const loop = new EngineLoop(new EngineModel(profile), scheduler, () => {
    assert.fail('no token after the stop')
  })
  loop.submit(request('a'))
  loop.stop()
  scheduler.run(0)
  assert.equal(scheduler.pending, 0)
})
