import type { EngineKind } from '../core/fleet/endpoint.ts'
import type { FetchedText } from '../io/http1/fetch-text.ts'
import { type EngineFetch, type FetchProblem, fetchProblem, statusProblem } from './engine-fetch.ts'

export interface HealthAnswer {
  /** The path that answered; to be asked first the next time. */
  readonly path: string
  /** Null when healthy. */
  readonly problem: FetchProblem | null
}

const bodyBytesMax = 1_048_576

/**
 * One health probe. An engine without `/health` is asked for something else that it must have; a
 * 404 there is then an answer of its own: it is no engine.
 */
export async function probeHealth(
  fetch: EngineFetch,
  engine: EngineKind,
  knownPath: string | null,
  headers: readonly string[],
  timeoutMs: number,
): Promise<HealthAnswer> {
  const paths = knownPath === null ? pathsOf(engine) : [knownPath]
  let last: HealthAnswer = { path: paths[0]!, problem: null }
  for (const path of paths) {
    try {
      const answer = await fetch(path, { headers, timeoutMs, bytesMax: bodyBytesMax })
      last = { path, problem: problemOf(answer) }
      if (answer.status !== 404 && answer.status !== 405) return last
    } catch (error) {
      return { path, problem: fetchProblem(error) }
    }
  }
  return last
}

function pathsOf(engine: EngineKind): readonly string[] {
  return engine === 'ollama' ? ['/api/version'] : ['/health', '/v1/models', '/api/version']
}

function problemOf(answer: FetchedText): FetchProblem | null {
  if (answer.status >= 200 && answer.status < 300) return null
  const problem = statusProblem(answer.status)
  // llama.cpp says so while it reads its weights.
  if (answer.status !== 503 || !answer.text.includes('Loading model')) return problem
  return { ...problem, reason: 'loading the model (status 503)' }
}
