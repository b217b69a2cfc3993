/** What a method and a path mean. Nothing is redirected: a redirected POST is a lost one. */
import { type Api, apiOfPath, pathEndOf } from '../../protocol/api.ts'

export type Route =
  | { readonly kind: 'admin'; readonly page: 'healthz' | 'readyz' | 'metrics' | 'status' }
  | { readonly kind: 'decision'; readonly id: string }
  | { readonly kind: 'models' }
  | { readonly kind: 'model'; readonly id: string }
  | { readonly kind: 'prompt'; readonly api: Exclude<Api, 'other'> }
  /** Something that one engine holds under this id: `/v1/responses/{id}` and what lies below. */
  | { readonly kind: 'stored'; readonly id: string }
  /** Passed on unread, to an endpoint that serves the model. */
  | {
      readonly kind: 'pass'
      readonly modelInPath: string | null
      readonly storesState: boolean
    }
  | { readonly kind: 'not-found' }

/** Routes that an engine answers. */
export type ExchangeRoute = Extract<Route, { kind: 'prompt' | 'pass' | 'stored' }>

const adminPages: ReadonlyMap<string, Extract<Route, { kind: 'admin' }>['page']> = new Map([
  ['/healthz', 'healthz'],
  ['/readyz', 'readyz'],
  ['/metrics', 'metrics'],
  ['/status', 'status'],
])

/**
 * Engine paths outside `/v1` that clients use. Of Ollama's own API only what asks: its other paths
 * pull, change and delete models.
 */
const enginePaths: ReadonlySet<string> = new Set([
  ...['/tokenize', '/detokenize', '/rerank', '/v2/rerank', '/score', '/pooling', '/classify'],
  ...['/generate', '/api/chat', '/api/generate', '/api/embed', '/api/embeddings', '/api/tags'],
  ...['/api/ps', '/api/show', '/api/version'],
])

/** A path that another server could take for a different one, as by going up a folder. */
const ambiguousPath = /(\/|%2f)(\.|%2e){1,2}(\/|%2f|\\|%5c|;|$)|\\|%5c|%00/i

const pathWithModel = /^\/v1\/(?:models\/(.+)|(?:engines|deployments)\/([^/]+))/

const collections = [
  ...['responses', 'files', 'batches', 'uploads', 'fine_tuning/jobs', 'assistants', 'threads'],
  ...['vector_stores', 'conversations', 'containers'],
].join('|')

/** What one engine holds, and nobody else knows. */
/** What looks like an id there and is a verb: any endpoint that serves the model may do it. */
const collectionActions: ReadonlySet<string> = new Set([
  '/v1/responses/input_tokens',
  '/v1/responses/compact',
  '/v1/threads/runs',
])

const storedPath = new RegExp(`^/v1/(?:${collections})/([^/]+)`)

/** Whose POST creates something that stays: never sent twice. */
const storingPath = new RegExp(`^/v1/(?:${collections}|(?:un)?load_lora_adapter)$`)

const notFound: Route = { kind: 'not-found' }

export function routeOf(method: string, target: string): Route {
  const path = target.slice(0, pathEndOf(target))
  const reads = method === 'GET' || method === 'HEAD'
  const page = adminPages.get(path)
  if (page !== undefined) return reads ? { kind: 'admin', page } : notFound
  if (path.startsWith('/debug/decisions/') && reads) {
    return { kind: 'decision', id: decoded(path.slice('/debug/decisions/'.length)) }
  }
  if (ambiguousPath.test(path)) return notFound
  if (!path.startsWith('/v1/')) return enginePaths.has(path) ? pass(false) : notFound
  const api = apiOfPath(path)
  if (api !== 'other') return method === 'POST' ? { kind: 'prompt', api } : pass(false)
  if (path === '/v1/models' && reads) return { kind: 'models' }
  if (path.startsWith('/v1/models/') && reads) {
    return { kind: 'model', id: decoded(path.slice('/v1/models/'.length)) }
  }
  if (collectionActions.has(path)) return pass(path === '/v1/threads/runs')
  const stored = storedPath.exec(path)?.[1]
  if (stored !== undefined) return { kind: 'stored', id: decoded(stored) }
  const match = pathWithModel.exec(path)
  const named = match?.[1] ?? match?.[2]
  return pass(storingPath.test(path) && !reads, named === undefined ? null : decoded(named))
}

function pass(storesState: boolean, modelInPath: string | null = null): Route {
  return { kind: 'pass', modelInPath, storesState }
}

/** A malformed escape stands for itself: it names nothing, and nothing throws. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
