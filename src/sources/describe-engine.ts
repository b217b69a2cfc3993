import type { EndpointDescription, EngineKind } from '../core/fleet/endpoint.ts'
import type { FetchedText } from '../io/http1/fetch-text.ts'
import { readModelsList } from '../protocol/models-list.ts'
import { type EngineFetch, fetchProblem } from './engine-fetch.ts'
import { detectionOrder, infoPaths, readEngineInfo } from './engine-info.ts'

export interface EngineAnswer {
  /** What the engine said; fields that it left out are missing. */
  readonly description: EndpointDescription
  /** Why the models are not known, in words; null when they are. */
  readonly modelsProblem: string | null
}

const bodyBytesMax = 4_194_304

/**
 * Asks an engine which models it serves, who it is and what it can hold.
 * @param known the kind, declared or found before; `unknown` when it was looked for in vain; null
 * to look for it where the list of models does not tell
 */
export async function describeEngine(
  fetch: EngineFetch,
  known: EngineKind | null,
  headers: readonly string[],
  timeoutMs: number,
): Promise<EngineAnswer> {
  const options = { headers, timeoutMs, bytesMax: bodyBytesMax }
  const ask = async (path: string): Promise<FetchedText | string> => {
    try {
      const answer = await fetch(path, options)
      return answer.status === 200 ? answer : `status ${answer.status}`
    } catch (error) {
      return fetchProblem(error).reason
    }
  }
  const listed = await ask('/v1/models')
  const list = typeof listed === 'string' ? null : readModelsList(listed.text)
  const kind = engineOf(known ?? 'unknown', list?.engine ?? 'unknown', listed)
  const looking = kind === 'unknown' && known === null
  const info = looking ? await detect(ask) : await informed(ask, kind)
  const modelsProblem =
    list !== null ? null : typeof listed === 'string' ? listed : 'not a list of models'
  return {
    description: {
      ...(kind === 'unknown' ? {} : { engine: kind }),
      ...info,
      ...(list === null ? {} : { models: list.models }),
    },
    modelsProblem,
  }
}

type Ask = (path: string) => Promise<FetchedText | string>

function engineOf(known: EngineKind, owner: EngineKind, listed: FetchedText | string): EngineKind {
  if (known !== 'unknown') return known
  if (owner !== 'unknown') return owner
  const server = typeof listed === 'string' ? '' : (listed.headers.get('server') ?? '')
  return server.includes('llama.cpp') ? 'llama.cpp' : 'unknown'
}

async function informed(ask: Ask, engine: EngineKind): Promise<EndpointDescription> {
  for (const path of infoPaths[engine]) {
    const answer = await ask(path)
    const info = typeof answer === 'string' ? null : readEngineInfo(engine, answer.text)
    if (info !== null) return info
  }
  return {}
}

async function detect(ask: Ask): Promise<EndpointDescription> {
  for (const engine of detectionOrder) {
    const info = await informed(ask, engine)
    if (info.engine !== undefined) return info
  }
  return {}
}
