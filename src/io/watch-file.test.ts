import assert from 'node:assert/strict'
import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Scheduler } from '../base/scheduler.ts'
import { watchFile } from './watch-file.ts'

/** Each look is made by hand: `look` resolves when the next one has been asked for. */
function looks(): { scheduler: Scheduler; look(): Promise<void> } {
  let due: (() => void) | null = null
  let asked = Promise.withResolvers<void>()
  const at = (_atMs: number, run: () => void): (() => void) => {
    due = run
    asked.resolve()
    return () => {
      due = null
    }
  }
  const look = async (): Promise<void> => {
    await asked.promise
    asked = Promise.withResolvers<void>()
    due!()
    await asked.promise
  }
  return { scheduler: { nowMs: () => 0, at }, look }
}

test('a change is told once, when the file has settled; a missing file is no news', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'warmpath-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  await writeFile(path, 'one')
  const { scheduler, look } = looks()
  let told = 0
  const stop = watchFile(path, scheduler, () => told++)
  const toldAfterLook = async (): Promise<number> => {
    await look()
    return told
  }
  assert.equal(await toldAfterLook(), 0)
  await writeFile(path, 'longer')
  assert.equal(await toldAfterLook(), 0, 'it may be half written')
  await writeFile(path, 'longer still')
  assert.equal(await toldAfterLook(), 0)
  assert.equal(await toldAfterLook(), 1)
  assert.equal(await toldAfterLook(), 1)
  await unlink(path)
  for (let i = 0; i < 2; i++) assert.equal(await toldAfterLook(), 1)
  await writeFile(path, 'another one')
  for (let i = 0; i < 2; i++) await look()
  assert.equal(told, 2)
  stop()
})
