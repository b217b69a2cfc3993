import assert from 'node:assert/strict'
import test from 'node:test'
import { emptyStatus } from '../../test/support/status-sample.ts'
import type { EndpointState } from '../core/fleet/endpoint-state.ts'
import { Fleet } from '../core/fleet/fleet.ts'
import { healthRules } from '../core/fleet/health.ts'
import { fleetStatus, modelStatus } from './fleet-status.ts'
import { Metrics } from './metrics.ts'
import type { EndpointStatus } from './status.ts'

const learned = () => ({
  cachedTokens: 0,
  rates: {},
  predictionError: { ttftRelative: null, ratesTrusted: true, cachedShare: null },
})

function fleetOf(...models: readonly (string | null)[]): { fleet: Fleet; all: EndpointState[] } {
  const fleet = new Fleet()
  const all = models.map((id, i) => {
    const served = id === null ? {} : { models: [{ id, parent: null, maxModelLen: null }] }
    const endpoint = fleet.join(`http://e${i}`, served)!
    endpoint.health.probed(0, true, 'ready')
    return endpoint
  })
  return { fleet, all }
}

function trip(endpoint: EndpointState): void {
  for (let i = 0; i < healthRules.requestFailuresMax; i++) {
    endpoint.health.failed(10, 'status 500', false)
  }
}

const statusOf = (fleet: Fleet): EndpointStatus[] => fleetStatus(fleet, 20, learned)

test('F035: an ejected endpoint is not routable, in status and metrics alike', async () => {
  const { fleet, all } = fleetOf('m', 'm')
  trip(all[0]!)
  const endpoints = statusOf(fleet)
  assert.equal(endpoints[0]!.routable, false)
  assert.match(endpoints[0]!.reason, /^ejected for .* status 500$/)
  assert.deepEqual([endpoints[1]!.routable, endpoints[1]!.reason], [true, 'ready'])
  const page = await new Metrics().render(emptyStatus({ endpoints }))
  assert.match(page, /warmpath_endpoint_routable\{endpoint="http:\/\/e0"\} 0/)
  assert.deepEqual(modelStatus(endpoints), [{ id: 'm', endpoints: 2, routableEndpoints: 1 }])
})

test('F035: a last resort is routable, and the reason says what is wrong with it', () => {
  const { fleet, all } = fleetOf('m', 'other')
  trip(all[0]!)
  const [first] = statusOf(fleet)
  assert.equal(first!.routable, true)
  assert.match(first!.reason, /^last resort: ejected/)
})

test('F035: status agrees with routing whatever is wrong with whom', () => {
  const troubles: readonly ((endpoint: EndpointState) => void)[] = [
    () => {},
    trip,
    (endpoint) => endpoint.health.probed(5, false, 'connection refused'),
    (endpoint) => endpoint.health.cooldown(5, 30_000),
    (endpoint) => {
      endpoint.health.draining = true
    },
    (endpoint) => {
      endpoint.health.asleep = true
    },
  ]
  for (const first of troubles) {
    for (const second of troubles) {
      const { fleet, all } = fleetOf('m', 'm')
      first(all[0]!)
      second(all[1]!)
      const chosen = new Set(fleet.pool('m', 20, null).available.map((one) => one.key))
      for (const { url, routable } of statusOf(fleet)) assert.equal(routable, chosen.has(url))
    }
  }
})

test('an endpoint that was never scraped has no age of a scrape, nor made-up facts', () => {
  const { fleet } = fleetOf(null)
  const [endpoint] = statusOf(fleet)
  assert.equal(endpoint!.scrapeAgeMs, null)
  assert.equal(endpoint!.kvCapacityTokens, null)
  assert.deepEqual(endpoint!.models, [])
})
