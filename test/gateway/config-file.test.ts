/** `warmpath serve --config`: the file read again by the real process. */
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Program } from '../support/program.ts'
import { RawEngine } from '../support/raw-engine.ts'

const timeout = { timeout: 60_000 }

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'warmpath-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

const listing = (...engines: RawEngine[]): string =>
  `host: 127.0.0.1\nport: 0\nendpoints:\n${engines.map(({ url }) => `  - ${url}\n`).join('')}`

test('SIGHUP reads it again; one with a mistake changes nothing', timeout, async (t) => {
  const [a, b] = [await RawEngine.start(t), await RawEngine.start(t)]
  const file = join(await folder(t), 'warmpath.yaml')
  await writeFile(file, listing(a))
  const program = new Program(t, ['serve', '--config', file])
  const address = await program.says(/router\.listening.*(http:[^" ]+)/)
  await writeFile(file, `${listing(b)}retriesMax: -1\n`)
  program.signal('SIGHUP')
  await program.says(/config\.rejected.*warmpath\.yaml:5:1: retriesMax expects a whole number/)
  const urls = async (): Promise<string[]> => {
    const status = await (await fetch(`${address}/status`)).json()
    return (status as { endpoints: { url: string }[] }).endpoints.map(({ url }) => url)
  }
  assert.deepEqual(await urls(), [a.url])
  await writeFile(file, 'port: 0\n')
  program.signal('SIGHUP')
  await program.says(/config\.rejected.*endpoints names no engine/)
  await writeFile(file, listing(b))
  program.signal('SIGHUP')
  await program.says(/config\.reloaded/)
  await program.says(new RegExp(`endpoint\\.up.*${b.url}`))
  assert.deepEqual(await urls(), [b.url])
  assert.deepEqual(await program.signal('SIGTERM').exit(), { status: 0, signal: null })
})

test('a new version swapped in behind a symbolic link is found', timeout, async (t) => {
  const [a, b] = [await RawEngine.start(t), await RawEngine.start(t)]
  const path = await folder(t)
  const [first, second] = [join(path, 'first'), join(path, 'second')]
  const [link, next] = [join(path, 'warmpath.yaml'), join(path, 'next')]
  await writeFile(first, listing(a))
  await writeFile(second, listing(a, b))
  await symlink(first, link)
  const program = new Program(t, ['serve', '--config', link])
  await program.says(new RegExp(`endpoint\\.up.*${a.url}`))
  await symlink(second, next)
  await rename(next, link)
  await program.says(new RegExp(`endpoint\\.up.*${b.url}`))
})
