import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startEmulator } from './start-emulator.ts'

/** A family on the page of a real vLLM 0.32.0. */
interface RecordedFamily {
  readonly type: string
  readonly labels: readonly string[]
  readonly buckets?: readonly string[]
}

const file = new URL('./vllm-0.32.metrics.json', import.meta.url)
const recorded: Readonly<Record<string, RecordedFamily>> = JSON.parse(readFileSync(file, 'utf8'))

/** Buckets that depend on how long a context the model may have. */
const byContext = /tokens$/

async function metricsPage(): Promise<string> {
  const emulator = await startEmulator({ profile: 'llama-3.1-8b-h100', timeScale: 50 })
  const [url] = emulator.urls
  const body = JSON.stringify({ prompt: 'sea', max_tokens: 5 })
  await (await fetch(`${url}/v1/completions`, { method: 'POST', body })).text()
  const page = await (await fetch(`${url}/metrics`)).text()
  await emulator.close()
  return page
}

test('each family has the type, labels and buckets that it has on a real vLLM', async () => {
  const page = await metricsPage()
  const families = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  assert.ok(families.length > 25)
  for (const [, name, type] of families) {
    const real = recorded[name]
    assert.ok(real, `vLLM has no ${name}`)
    assert.equal(type, real.type, name)
    const series = new RegExp(`^${name}(_bucket|_count|_sum)?[{ ].*$`, 'gm')
    const lines = page.match(series) ?? []
    assert.ok(lines.length > 0, name)
    for (const line of lines) {
      const { labels, le } = labelsOf(line)
      if (name === 'vllm:cache_config_info') {
        for (const label of labels) assert.ok(real.labels.includes(label), label)
      } else assert.deepEqual(labels, real.labels, line)
      if (le !== undefined && !byContext.test(name)) assert.ok(real.buckets?.includes(le), line)
    }
  }
})

function labelsOf(line: string): { labels: string[]; le: string | undefined } {
  const pairs = [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => ({ name, value }))
  const names = pairs.map(({ name }) => name)
  assert.deepEqual(names, names.toSorted(), 'labels are in order')
  const le = pairs.find(({ name }) => name === 'le')?.value
  return { labels: names.filter((name) => name !== 'le'), le }
}

test('histograms add up', async () => {
  const page = await metricsPage()
  const name = 'vllm:inter_token_latency_seconds'
  const buckets = page.split('\n').filter((line) => line.startsWith(`${name}_bucket`))
  const counts = buckets.map((line) => Number(line.split(' ').at(-1)))
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  )
  // Five tokens have four gaps, of 7 ms each: they are in the first bucket.
  assert.deepEqual([counts[0], counts.at(-1)], [4, 4])
  assert.match(page, new RegExp(`^${name}_count\\{.*\\} 4\\.0$`, 'm'))
})
