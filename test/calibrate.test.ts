/** `warmpath calibrate` as its users meet it, against an emulated engine whose numbers are known. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Emulator, startEmulator } from '../src/lab/emulator/start-emulator.ts'
import { type EngineProfile, profileDefaults } from '../src/lab/engine/profile.ts'
import { readProfileFile } from '../src/lab/engine/profile-file.ts'
import { Program } from './support/program.ts'

/** The machine's own delays are much smaller than these times, even sped up. */
const timeScale = 4
const profile: EngineProfile = {
  ...profileDefaults,
  name: 'known',
  model: 'maker/known-model',
  source: 'made up',
  t0Ms: 16,
  prefillMsPerToken: 0.12,
  pairMs: 8e-6,
  contextMsPerToken: 8e-4,
  logicalContextMsPerToken: 2e-4,
  perSequenceMs: 1,
  ingressMs: 40,
  ingressMsPerToken: 0.01,
  kvTokens: 60_000,
  batchTokensMax: 2_048,
  contextTokensMax: 16_384,
  pricePerHour: 1,
}
const folder = mkdtempSync(join(tmpdir(), 'warmpath-calibrate-'))
after(() => rmSync(folder, { recursive: true }))

async function withEngine(use: (emulator: Emulator) => Promise<void>): Promise<void> {
  const emulator = await startEmulator({ profile, timeScale })
  await use(emulator).finally(() => emulator.close())
}

const requestsTo = (emulator: Emulator): number =>
  emulator.replicas.reduce((sum, replica) => sum + replica.stats().finishedRequests, 0)

test('it finds the numbers of the engine, and writes a profile that can be read', async (t) => {
  await withEngine(async (emulator) => {
    const file = join(folder, 'known.yaml')
    const args = ['--rounds', '2', '--at-once', '4', '--longest-prompt', '3000', '-o', file]
    const program = new Program(t, ['calibrate', emulator.urls[0], ...args])
    assert.equal((await program.exit()).status, 0, program.lines.join('\n'))
    await program.says(/^One round sends \d+ requests with [\d,]+ prompt tokens/)
    await program.says(/^The first token after a prompt of 4,096 tokens takes/)
    const read = readProfileFile(file, readFileSync(file, 'utf8'))
    assert.ok(read.ok)
    const found = read.profile
    const near = (key: keyof EngineProfile, share: number, scale: number) => {
      const value = (found[key] as number) * scale
      const off = Math.abs(value / (profile[key] as number) - 1)
      assert.ok(off < share, `${key}: ${value}, not ${profile[key]}`)
    }
    // The single coefficients are held closely in virtual time; here other work makes some late.
    near('t0Ms', 0.1, timeScale)
    near('prefillMsPerToken', 0.25, timeScale)
    const firstTokenMs = ({ t0Ms, prefillMsPerToken, pairMs, ingressMs }: EngineProfile) =>
      ingressMs + 2 * t0Ms + prefillMsPerToken * 3_000 + (pairMs * 3_000 ** 2) / 2
    const share = (timeScale * firstTokenMs(found)) / firstTokenMs(profile)
    assert.ok(Math.abs(share - 1) < 0.1, `a prompt takes ${share} times what it does`)
    for (const key of ['kvTokens', 'blockTokens', 'contextTokensMax', 'batchTokensMax'] as const) {
      near(key, 0.01, 1)
    }
    assert.equal(found.model, profile.model)
    assert.match(readFileSync(file, 'utf8'), /runningMax: 256 +# sequences at once: not known/)
  })
})

test('a dry run asks the engine what it is, and sends nothing', async (t) => {
  await withEngine(async (emulator) => {
    const program = new Program(t, ['calibrate', emulator.urls[0], '--dry-run'])
    assert.equal((await program.exit()).status, 0)
    await program.says(/model maker\/known-model: context 16,384 tokens, KV memory 60,000 tokens/)
    assert.equal(requestsTo(emulator), 0)
  })
})

test('Ctrl-C stops it, and nothing is written', async (t) => {
  await withEngine(async (emulator) => {
    const file = join(folder, 'stopped.yaml')
    const program = new Program(t, ['calibrate', emulator.urls[0], '-o', file])
    await program.says(/Ctrl-C stops it/)
    program.signal('SIGINT')
    assert.equal((await program.exit()).status, 1)
    await program.says(/stopped; nothing was written/)
    assert.ok(!existsSync(file))
  })
})

test('an engine that fails ends it with the engine’s own words', async (t) => {
  await withEngine(async (emulator) => {
    emulator.replicas[0].setFaults({ error: { status: 500 } })
    const file = join(folder, 'failed.yaml')
    const program = new Program(t, ['calibrate', emulator.urls[0], '-o', file])
    assert.equal((await program.exit()).status, 69)
    await program.says(/status 500: /)
    assert.ok(!existsSync(file))
  })
})

test('what is wrong is said before anything is sent', async (t) => {
  await withEngine(async (emulator) => {
    const file = join(folder, 'there.yaml')
    writeFileSync(file, 'mine')
    const url = emulator.urls[0]
    const wrong: [string[], number, RegExp][] = [
      [[url, '-o', file], 64, /there\.yaml: it exists already; .*--overwrite/],
      [[url, '--model', 'none'], 64, /--model: no model "none"; it serves maker\/known-model/],
      [[url, '--api-key-env', 'NO_SUCH_KEY'], 64, /--api-key-env: NO_SUCH_KEY is not set/],
      [['http://127.0.0.1:9'], 69, /\/v1\/models: connection refused/],
      [['gpu1:8000'], 64, /did you mean http:\/\/gpu1:8000/],
    ]
    for (const [args, status, message] of wrong) {
      const program = new Program(t, ['calibrate', ...args])
      assert.equal((await program.exit()).status, status, args.join(' '))
      await program.says(message)
    }
    assert.equal(requestsTo(emulator), 0)
    assert.equal(readFileSync(file, 'utf8'), 'mine')
  })
})
