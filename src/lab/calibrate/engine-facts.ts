/** What an engine says of itself, as far as a calibration needs it. */
import type { EndpointDescription, EngineKind, ServedModel } from '../../core/fleet/endpoint.ts'
import { describeEngine } from '../../sources/describe-engine.ts'
import type { EngineFetch } from '../../sources/engine-fetch.ts'
import { scrapeMetrics } from '../../sources/scrape-metrics.ts'
import { CalibrationProblem } from './calibration-problem.ts'

export interface EngineFacts {
  readonly engine: EngineKind
  readonly version: string | null
  readonly model: string
  readonly contextTokensMax: number | null
  readonly kvTokens: number | null
  readonly blockTokens: number | null
  readonly batchTokensMax: number | null
  readonly runningMax: number | null
}

/** Its metrics now; null where it shows none. */
export interface EngineLoad {
  /** Requests running or waiting. */
  readonly requests: number
  readonly page: string
}

const timeoutMs = 5_000

/** @throws CalibrationProblem where the engine is not there, or does not serve the model */
export async function askFacts(
  fetch: EngineFetch,
  wantedModel: string | null,
  headers: readonly string[],
): Promise<EngineFacts> {
  const { description, modelsProblem } = await describeEngine(fetch, null, headers, timeoutMs)
  if (modelsProblem !== null) {
    throw new CalibrationProblem('unavailable', `/v1/models: ${modelsProblem}`)
  }
  const model = modelOf(description.models ?? [], wantedModel)
  const kind = description.engine ?? 'unknown'
  const scrape = await scrapeMetrics(fetch, kind, headers, timeoutMs)
  const shown: EndpointDescription = scrape.kind === 'read' ? scrape.metrics.description : {}
  const told = { ...shown, ...description }
  return {
    engine: told.engine ?? 'unknown',
    version: told.version ?? null,
    model: model.id,
    contextTokensMax: model.maxModelLen,
    kvTokens: told.kvCapacityTokens ?? null,
    blockTokens: told.matchUnitTokens ?? null,
    batchTokensMax: told.batchTokensMax ?? null,
    runningMax: told.runningMax ?? null,
  }
}

/** Without a wish, the only model that is no adapter. */
function modelOf(models: readonly ServedModel[], wanted: string | null): ServedModel {
  const names = models.map(({ id }) => id).join(', ')
  if (wanted !== null) {
    const found = models.find(({ id }) => id === wanted)
    if (found !== undefined) return found
    throw new CalibrationProblem('usage', `--model: no model "${wanted}"; it serves ${names}`)
  }
  const base = models.filter(({ parent }) => parent === null)
  if (base.length === 0) throw new CalibrationProblem('unavailable', 'it serves no model')
  if (base.length === 1) return base[0]
  throw new CalibrationProblem('usage', `it serves ${names}: say which with --model`)
}

export async function askLoad(
  fetch: EngineFetch,
  engine: EngineKind,
  headers: readonly string[],
): Promise<EngineLoad | null> {
  const scrape = await scrapeMetrics(fetch, engine, headers, timeoutMs)
  if (scrape.kind !== 'read') return null
  const { running, waiting } = scrape.metrics.signals
  return { requests: (running ?? 0) + (waiting ?? 0), page: scrape.page }
}
