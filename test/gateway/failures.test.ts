/** The page on failures, row by row, on real sockets: what it says is what happens. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { errorCatalogue } from '../../src/base/errors.ts'
import { healthRules } from '../../src/core/fleet/health.ts'
import { GatewayStage } from '../support/gateway-stage.ts'
import { answersWell, type EngineCall, RawEngine } from '../support/raw-engine.ts'
import { type Seen, seenBy } from '../support/seen-by-client.ts'
import { type Scenario, scenarios } from './failure-scenarios.ts'

interface Row {
  readonly scenario: string
  readonly what: string
  readonly sees: string
  readonly elsewhere: string
  readonly learns: string
}

const nothing: Seen = { status: null, head: '', body: '', whole: false, how: 'end' }

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/failures.md'), 'utf8')
const rows = page.split('\n').flatMap(readRow)

function readRow(line: string): Row[] {
  const cells = /^\| `([a-z0-9-]+)` \| (.*) \| (.*) \| (.*) \| (.*) \|$/.exec(line)
  if (cells === null) return []
  const [, scenario, what, sees, elsewhere, learns] = cells as unknown as string[]
  return [{ scenario: scenario!, what: what!, sees: sees!, elsewhere: elsewhere!, learns: learns! }]
}

test('each row has a scenario, and each scenario a row', () => {
  const named = rows.map(({ scenario }) => scenario)
  assert.deepEqual(named.toSorted(), Object.keys(scenarios).toSorted())
})

describe('what the page says happens', { concurrency: 4 }, () => {
  for (const { scenario, what, sees, elsewhere, learns } of rows) {
    test(`${scenario}: ${what}`, { timeout: 10_000 }, async (t) => {
      const told = scenarios[scenario]!
      const alone = await playAlone(t, told)
      assert.deepEqual(alone, { sees, learns })
      const pair = await playBesideAnother(t, told)
      const other = elsewhere === 'yes' ? "another's answer" : sees
      assert.deepEqual(pair, { sees: other, elsewhere })
    })
  }
})

/** The failing engine is the only one. */
async function playAlone(
  t: TestContext,
  told: Scenario,
): Promise<{ sees: string; learns: string }> {
  const engine = await RawEngine.start(t, told.engine)
  const stage = await stageFor(t, [engine], told)
  await told.before?.(engine, t)
  if (told.drains) {
    // Afterwards nothing can be asked, so as many as could eject it are in flight at once.
    const seen = await playOnce(stage, engine, told, healthRules.requestFailuresMax)
    return {
      sees: words(seen, engine.calls),
      learns: ejections(stage) > 0 ? 'a failure' : 'nothing',
    }
  }
  const seen = await playOnce(stage, engine, told)
  const [reason] = await stage.reasons()
  if (reason === 'connection refused') {
    return { sees: words(seen, engine.calls), learns: 'it is down' }
  }
  for (let i = 1; i < healthRules.requestFailuresMax; i++) await playOnce(stage, engine, told)
  const learnt = ejections(stage) > 0 ? ['a failure'] : []
  if (reason!.includes('asked to be left alone')) learnt.push('a pause')
  return {
    sees: words(seen, engine.calls),
    learns: learnt.length > 0 ? learnt.join(' and ') : 'nothing',
  }
}

/** The request comes to the failing engine first, and another could take it. */
async function playBesideAnother(
  t: TestContext,
  told: Scenario,
): Promise<{ sees: string; elsewhere: string }> {
  const engine = await RawEngine.start(t, told.engine)
  const other = await RawEngine.start(t, answersWell)
  const stage = await stageFor(t, [engine, other], told)
  await told.before?.(engine, t)
  const seen = await playOnce(stage, engine, told)
  const elsewhere = other.calls.length > 0
  const sees = words(seen, elsewhere ? other.calls : engine.calls)
  return {
    sees: elsewhere ? sees.replace("the engine's", "another's") : sees,
    elsewhere: elsewhere ? 'yes' : 'no',
  }
}

function stageFor(t: TestContext, engines: RawEngine[], told: Scenario): Promise<GatewayStage> {
  const { config = {}, timeScale = 1 } = told
  return GatewayStage.start(t, engines, { config, timeScale })
}

/** Sends so many requests, lets the scenario break them; what the first client saw. */
async function playOnce(
  stage: GatewayStage,
  engine: RawEngine,
  told: Scenario,
  count = 1,
): Promise<Seen> {
  const before = engine.calls.length
  const clients = Array.from({ length: count }, () => stage.chat(told.fields, told))
  const client = clients[0]!
  if (told.connects !== false) await engine.call(before + count - 1)
  await told.act?.({ engine, stage, client, call: () => engine.call(before) })
  if (told.clientLeaves) {
    if (told.connects === false) await stage.statusWhen((status) => status.openRequests === 0)
    else await engine.calls[before]!.closed()
    return nothing
  }
  return seenBy(client)
}

function ejections(stage: GatewayStage): number {
  return stage.lines.filter(({ event }) => event === 'endpoint.ejected').length
}

/** In the words of the page. */
function words(seen: Seen, calls: readonly EngineCall[]): string {
  const { status, body, whole, how } = seen
  const call = calls.find(({ sentStatus, sentBody }) => sentStatus === status && sentBody === body)
  if (whole && call !== undefined) return "the engine's answer"
  if (whole) return `${status} \`${codeIn(body)}\``
  if (status === null) return 'nothing'
  const lastEvent = /data: (.*)\n\n$/.exec(body)?.[1]
  const code = lastEvent === undefined ? null : codeIn(lastEvent)
  if (code !== null) return `error event \`${code}\`, then a cut`
  // Where a length was promised, or nothing else tells, only a reset cannot be misread.
  return how === 'reset' ? 'a cut' : 'an end'
}

function codeIn(text: string): string | null {
  const code = JSON.parse(text).error?.code ?? null
  return typeof code === 'string' && code in errorCatalogue ? code : null
}
