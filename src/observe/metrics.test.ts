import assert from 'node:assert/strict'
import test from 'node:test'
import { emptyStatus, endpointSample } from '../../test/support/status-sample.ts'
import type { Usage } from '../core/events.ts'
import { metricCatalogue } from './metric-catalogue.ts'
import { Metrics } from './metrics.ts'
import type { RouterStatus } from './status.ts'

const endpoint = 'http://e0'
const usage: Usage = { promptTokens: 100, outputTokens: 10, cachedTokens: 64 }

async function page(metrics: Metrics, status: Partial<RouterStatus> = {}): Promise<string[]> {
  return (await metrics.render(emptyStatus(status))).split('\n')
}

function value(lines: readonly string[], series: string): number | undefined {
  const line = lines.find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

function served(): Metrics {
  const metrics = new Metrics()
  metrics.endpointJoined(endpoint)
  metrics.pinModels(['m'])
  return metrics
}

test('a request leaves its traces, each under its unit', async () => {
  const metrics = served()
  const series = metrics.served('m', endpoint)
  series.dispatched(1, 40)
  series.firstToken(240, 200, 100)
  series.interToken(20)
  series.interToken(30)
  series.ended({ outcome: 'done', status: 200, e2eMs: 900, usage, predictedCachedTokens: 80 })
  const lines = await page(metrics)
  const labels = 'model="m",endpoint="http://e0"'
  assert.equal(value(lines, `warmpath_requests_total{${labels},outcome="done",code="200"}`), 1)
  assert.equal(value(lines, `warmpath_attempts_total{${labels}}`), 1)
  assert.equal(value(lines, `warmpath_queue_wait_seconds_sum{${labels}}`), 0.04)
  const ttft = 'warmpath_time_to_first_token_seconds'
  assert.equal(value(lines, `${ttft}_sum{${labels}}`), 0.24)
  assert.equal(value(lines, `${ttft}_bucket{${labels},le="0.1"}`), 0)
  assert.equal(value(lines, `${ttft}_bucket{${labels},le="0.25"}`), 1)
  assert.equal(value(lines, `${ttft}_bucket{${labels},le="+Inf"}`), 1)
  assert.equal(value(lines, `warmpath_inter_token_latency_seconds_count{${labels}}`), 2)
  assert.equal(value(lines, `warmpath_ttft_actual_over_predicted_sum{${labels}}`), 2)
  assert.equal(value(lines, `warmpath_cached_tokens_total{${labels}}`), 64)
  const checked = 'warmpath_checked_predicted_cached_tokens_total'
  assert.equal(value(lines, `${checked}{${labels}}`), 80)
})

test('every metric of the page is in the catalogue, and the reverse', async () => {
  const lines = await page(served())
  const typed = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' '))
  assert.deepEqual(
    typed.map(([, , name, type]) => [name, type]),
    Object.entries(metricCatalogue).map(([name, { type }]) => [name, type]),
  )
  for (const [name, { type, help }] of Object.entries(metricCatalogue)) {
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    assert.ok(help.endsWith('.'), `${name}: a sentence`)
  }
})

test('cached tokens that were not reported are not compared', async () => {
  const metrics = served()
  const unreported = { ...usage, cachedTokens: null }
  const end = { outcome: 'done', status: 200, e2eMs: 1, predictedCachedTokens: 500 } as const
  metrics.served('m', endpoint).ended({ ...end, usage: unreported })
  const lines = await page(metrics)
  const labels = 'model="m",endpoint="http://e0"'
  assert.equal(value(lines, `warmpath_checked_predicted_cached_tokens_total{${labels}}`), 0)
})

test('F121: ten thousand random model names make a bounded number of series', async () => {
  const metrics = served()
  for (let i = 0; i < 10_000; i++) {
    const name = i % 2 === 0 ? `stranger-${i}` : `${'x'.repeat(5_000)}${i}`
    const end = { outcome: 'refused', status: 404, e2eMs: 1, predictedCachedTokens: null } as const
    metrics.served(name, null).ended({ ...end, usage })
  }
  metrics.pinModels(['late'])
  metrics.served('late', endpoint).dispatched(1, 0)
  const lines = await page(metrics)
  const requests = lines.filter((line) => line.startsWith('warmpath_requests_total{'))
  assert.ok(requests.length <= 60, `${requests.length} series`)
  const total = requests.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  assert.equal(total, 10_000, 'folded, not lost')
  const other = requests.find((line) => line.includes('model="other"'))
  assert.ok(Number(other?.split(' ').at(-1)) > 9_000)
  const known = lines.find((line) => line.startsWith('warmpath_attempts_total{model="late"'))
  assert.ok(known?.endsWith(' 1'), 'a model that an endpoint lists keeps its own series')
  assert.ok(lines.join('\n').length < 200_000)
})

test('F121: names that a client chose cannot break out of their label', async () => {
  const metrics = served()
  metrics.served('a"} 1\nwarmpath_fake 7\\', endpoint).dispatched(1, 0)
  const lines = await page(metrics)
  assert.ok(!lines.some((line) => line.startsWith('warmpath_fake')))
})

test('F131: a million requests leave as many series as ten thousand', async () => {
  const metrics = served()
  const run = (requests: number): void => {
    for (let i = 0; i < requests; i++) {
      const series = metrics.served(`model-${i % 70}`, endpoint)
      series.dispatched(1, 1)
      series.firstToken(i % 500, 10, 10)
      const status = 200 + (i % 7)
      series.ended({ outcome: 'done', status, e2eMs: 5, usage, predictedCachedTokens: 1 })
      metrics.attemptFailed(endpoint, 'connect', `status ${500 + (i % 300)}`)
    }
  }
  run(10_000)
  const before = (await page(metrics)).length
  run(1_000_000)
  assert.equal((await page(metrics)).length, before)
})

test('an endpoint that left takes its series along and does not come back through old requests', async () => {
  const metrics = served()
  metrics.served('m', endpoint).dispatched(1, 0)
  metrics.attemptFailed(endpoint, 'connect', 'refused')
  metrics.endpointLeft(endpoint)
  metrics.attemptFailed(endpoint, 'connect', 'refused')
  const lines = await page(metrics)
  assert.ok(!lines.some((line) => line.includes(endpoint)))
  assert.ok(lines.some((line) => line.includes('endpoint="other"')))
})

test('gauges follow the status, and what is not reported has no series', async () => {
  const endpoints = [
    endpointSample({ url: 'http://e0', inFlight: 3, rates: { stepMs: 12 }, scrapeAgeMs: 1_500 }),
    endpointSample({ url: 'http://e1', routable: false, reason: 'connection refused' }),
  ]
  const lines = await page(new Metrics(), { endpoints, fallbacks: { 'last-resort': 2 } })
  assert.equal(value(lines, 'warmpath_endpoint_routable{endpoint="http://e0"}'), 1)
  assert.equal(value(lines, 'warmpath_endpoint_routable{endpoint="http://e1"}'), 0)
  assert.equal(value(lines, 'warmpath_endpoint_in_flight{endpoint="http://e0"}'), 3)
  assert.equal(value(lines, 'warmpath_endpoint_scrape_age_seconds{endpoint="http://e0"}'), 1.5)
  assert.equal(
    value(lines, 'warmpath_endpoint_scrape_age_seconds{endpoint="http://e1"}'),
    undefined,
  )
  const rate = 'warmpath_endpoint_learned_rate{endpoint="http://e0",rate="stepMs"}'
  assert.equal(value(lines, rate), 12)
  assert.equal(value(lines, 'warmpath_fallbacks_total{kind="last-resort"}'), 2)
})

test('figures of the process can join the page', async () => {
  const metrics = new Metrics()
  metrics.collectProcess()
  const lines = await page(metrics)
  assert.ok(lines.some((line) => line.startsWith('process_resident_memory_bytes ')))
})
