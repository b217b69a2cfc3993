import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Route, routeOf } from './route-of.ts'

const notFound: Route = { kind: 'not-found' }

function pass(storesState = false, modelInPath: string | null = null): Route {
  return { kind: 'pass', modelInPath, storesState }
}

type Row = readonly [method: string, target: string, route: Route]

function rows(title: string, table: readonly Row[]): void {
  describe(title, () => {
    for (const [method, target, route] of table) {
      test(`${method} ${target}`, () => assert.deepEqual(routeOf(method, target), route))
    }
  })
}

rows('the router’s own pages', [
  ['GET', '/healthz', { kind: 'admin', page: 'healthz' }],
  ['HEAD', '/readyz', { kind: 'admin', page: 'readyz' }],
  ['GET', '/metrics/', { kind: 'admin', page: 'metrics' }],
  ['GET', '/status?pretty', { kind: 'admin', page: 'status' }],
  ['POST', '/status', notFound],
  ['GET', '/statusx', notFound],
  ['GET', '/debug/decisions/a-1', { kind: 'decision', id: 'a-1' }],
  ['GET', '/debug/decisions/a%20b', { kind: 'decision', id: 'a b' }],
  ['GET', '/debug/decisions/', notFound],
  ['DELETE', '/debug/decisions/a-1', notFound],
])

rows('prompts', [
  ['POST', '/v1/chat/completions', { kind: 'prompt', api: 'chat' }],
  ['POST', '/v1/completions//', { kind: 'prompt', api: 'completions' }],
  ['POST', '/v1/responses?a=b', { kind: 'prompt', api: 'responses' }],
  ['POST', '/v1/embeddings', { kind: 'prompt', api: 'embeddings' }],
  ['POST', '/v1/messages/?beta=true', { kind: 'prompt', api: 'messages' }],
  ['POST', '/v1/messages/count_tokens', { kind: 'prompt', api: 'count-tokens' }],
  ['GET', '/v1/chat/completions', pass()],
])

rows('F113: models, with slashes raw or percent-encoded', [
  ['GET', '/v1/models', { kind: 'models' }],
  ['HEAD', '/v1/models/?limit=5', { kind: 'models' }],
  ['GET', '/v1/models/org/m', { kind: 'model', id: 'org/m' }],
  ['GET', '/v1/models/org%2Fm/', { kind: 'model', id: 'org/m' }],
  ['GET', '/v1/models/m%zz', { kind: 'model', id: 'm%zz' }],
  ['POST', '/v1/models', pass()],
  ['DELETE', '/v1/models/org%2Fm', pass(false, 'org/m')],
])

rows('F088: what one engine holds', [
  ['GET', '/v1/responses/resp_1', { kind: 'stored', id: 'resp_1' }],
  ['DELETE', '/v1/responses/resp_1/', { kind: 'stored', id: 'resp_1' }],
  ['POST', '/v1/responses/resp_1/cancel', { kind: 'stored', id: 'resp_1' }],
  ['GET', '/v1/responses/resp_1/input_items?limit=2', { kind: 'stored', id: 'resp_1' }],
  ['GET', '/v1/files/f%2D1/content', { kind: 'stored', id: 'f-1' }],
  ['POST', '/v1/fine_tuning/jobs/j/pause', { kind: 'stored', id: 'j' }],
])

rows('what is passed on', [
  ...['files', 'batches', 'uploads', 'fine_tuning/jobs', 'assistants', 'threads'].map(
    (name): Row => ['POST', `/v1/${name}`, pass(true)],
  ),
  ['POST', '/v1/vector_stores/', pass(true)],
  ['GET', '/v1/files', pass()],
  ['POST', '/v1/audio/transcriptions', pass()],
  ['POST', '/v1/images/generations', pass()],
  ['GET', '/v1/realtime?model=m', pass()],
  ['POST', '/v1/engines/org%2Fm/embeddings', pass(false, 'org/m')],
  ...['tokenize', 'detokenize', 'rerank', 'score', 'pooling', 'classify', 'generate'].map(
    (name): Row => ['POST', `/${name}`, pass()],
  ),
  ['POST', '/api/chat', pass()],
  ['GET', '/api/tags/', pass()],
])

rows('what is not served', [
  ['GET', '/', notFound],
  ['OPTIONS', '*', notFound],
  ['GET', '', notFound],
  ['POST', '/v1', notFound],
  ['POST', '/v1x/files', notFound],
  ['POST', '/api/pull', notFound],
  ['DELETE', '/api/delete', notFound],
  ['POST', '/sleep', notFound],
  ['POST', '/v1/files/..', notFound],
  ['POST', '/v1/%2E./sleep', notFound],
  ['POST', '/v1/x%2f..%2F..%2fsleep', notFound],
  ['POST', '/v1/x%5C%2e%2e/sleep', notFound],
  ['GET', '/v1/models/a%00', notFound],
])

const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE')
const target = fc
  .array(
    fc.oneof(
      fc.constantFrom('v1', 'models', 'responses', 'files', 'status', 'debug', 'decisions', '%2f'),
      fc.string({ maxLength: 4 }).map((text) => text.replaceAll('?', '%')),
    ),
    { maxLength: 5 },
  )
  .map((parts) => `/${parts.join('/')}`)

test('any path means something, the same with slashes and a query behind it', () => {
  fc.assert(
    fc.property(method, target, fc.nat(3), fc.string(), (how, path, slashes, query) => {
      const route = routeOf(how, path)
      assert.deepEqual(routeOf(how, `${path}${'/'.repeat(slashes)}?${query}`), route)
    }),
  )
})

test('a HEAD means what its GET means', () => {
  fc.assert(
    fc.property(target, (path) => {
      assert.deepEqual(routeOf('HEAD', path), routeOf('GET', path))
    }),
  )
})

test('F113: a model of any name is found again by its encoded name', () => {
  const name = fc
    .string({ minLength: 1, unit: 'grapheme' })
    .filter((id) => !/[\\\0]|(^|\/)\.{1,2}(\/|;|$)|%|\/$/.test(id) && id.isWellFormed())
  fc.assert(
    fc.property(name, (id) => {
      const route = routeOf('GET', `/v1/models/${encodeURIComponent(id)}`)
      assert.deepEqual(route, { kind: 'model', id })
    }),
  )
})

rows('verbs of a collection are no stored ids', [
  ['POST', '/v1/responses/input_tokens', pass()],
  ['POST', '/v1/responses/compact/', pass()],
  ['POST', '/v1/threads/runs', pass(true)],
])
