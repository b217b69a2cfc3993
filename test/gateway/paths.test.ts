/** Which path means what, and where it goes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GatewayStage } from '../support/gateway-stage.ts'
import { RawEngine, type Script, wholeAnswer } from '../support/raw-engine.ts'
import { headerIn, seenBy } from '../support/seen-by-client.ts'

const json = ['content-type: application/json']
const ok: Script = (call) => call.answer(200, wholeAnswer('well'))

/** Two engines that serve a model each. */
async function twoModels(t: Parameters<typeof RawEngine.start>[0]) {
  const [a, b] = [await RawEngine.start(t, ok), await RawEngine.start(t, ok)]
  a.models = ['org/a']
  b.models = ['org/b', 'm']
  const stage = await GatewayStage.start(t, [a, b])
  return { a, b, stage }
}

describe('F113: models', () => {
  test('are listed once each, in the shape that the client speaks', async (t) => {
    const { stage } = await twoModels(t)
    const { data } = JSON.parse((await seenBy(stage.request('GET /v1/models'))).body)
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      ['org/a', 'org/b', 'm'],
    )
    const anthropic = stage.request('GET /v1/models', '', ['anthropic-version: 2023-06-01'])
    assert.equal(JSON.parse((await seenBy(anthropic)).body).data[0].type, 'model')
  })

  for (const path of ['/v1/models/org/b', '/v1/models/org%2Fb', '/v1/models/org/b/']) {
    test(`${path} is found`, async (t) => {
      const { stage } = await twoModels(t)
      const { status, body } = await seenBy(stage.request(`GET ${path}`))
      assert.equal(status, 200)
      assert.equal(JSON.parse(body).id, 'org/b')
    })
  }

  test('one that nobody serves is not', async (t) => {
    const { stage } = await twoModels(t)
    const { status, body } = await seenBy(stage.request('GET /v1/models/org/c'))
    assert.equal(status, 404)
    assert.match(body, /org\/a/)
  })
})

describe('F144: a model that nobody lists', () => {
  test('is answered by the router, which names those that exist', async (t) => {
    const { a, b, stage } = await twoModels(t)
    const { status, body } = await seenBy(stage.chat({ model: 'gpt-9' }))
    assert.equal(status, 404)
    const { error } = JSON.parse(body)
    assert.equal(error.code, 'model_not_found')
    assert.match(error.message, /gpt-9.*m, org\/a, org\/b/)
    assert.equal(a.calls.length + b.calls.length, 0)
  })

  test('goes to an engine where the operator says so', async (t) => {
    const engine = await RawEngine.start(t, ok)
    const stage = await GatewayStage.start(t, [engine], { config: { unknownModels: 'forward' } })
    assert.equal((await seenBy(stage.chat({ model: 'gpt-9' }))).status, 200)
  })
})

describe('what is not read goes by the model that it names', () => {
  const boundary = 'xyz'
  const form = (model: string): string =>
    [
      `--${boundary}`,
      'content-disposition: form-data; name="file"; filename="a.wav"',
      'content-type: audio/wav',
      '',
      'name="model"\r\n\r\norg/a',
      `--${boundary}`,
      'content-disposition: form-data; name="model"',
      '',
      model,
      `--${boundary}--`,
      '',
    ].join('\r\n')
  const multipart = [`content-type: multipart/form-data; boundary=${boundary}`]

  test('F112: in a form, and the audio arrives byte for byte', async (t) => {
    const { a, b, stage } = await twoModels(t)
    const path = 'POST /v1/audio/transcriptions'
    assert.equal((await seenBy(stage.request(path, form('org/b'), multipart))).status, 200)
    assert.equal(a.calls.length, 0)
    assert.equal(b.calls[0]!.body, form('org/b'))
    assert.equal(b.calls[0]!.line, path)
  })

  for (const path of [
    '/v1/rerank',
    '/v1/score',
    '/v1/images/generations',
    '/tokenize',
    '/rerank',
  ]) {
    test(`in the JSON of ${path}`, async (t) => {
      const { a, b, stage } = await twoModels(t)
      const body = '{"query":"q","documents":["d"],"model":"org/b"}'
      assert.equal((await seenBy(stage.request(`POST ${path}`, body, json))).status, 200)
      assert.equal(a.calls.length, 0)
      assert.equal(b.calls[0]!.body, body)
    })
  }

  test('in the path', async (t) => {
    const { a, b, stage } = await twoModels(t)
    const path = '/v1/engines/org%2Fb/embeddings'
    await stage.request(`POST ${path}`, '{"input":"x"}', json).over()
    await stage.request('DELETE /v1/models/org/b').over()
    assert.deepEqual(
      b.calls.map(({ line }) => line),
      [`POST ${path}`, 'DELETE /v1/models/org/b'],
    )
    assert.equal(a.calls.length, 0)
  })

  test('query and method travel along', async (t) => {
    const { b, stage } = await twoModels(t)
    const line = 'PUT /v1/things?a=1&b=%20x'
    await stage.request(line, '{"model":"m"}', json).over()
    assert.equal(b.calls[0]!.line, line)
  })
})

test('a body that is not understood reaches the engine, and is counted', async (t) => {
  const answer = '{"error":{"message":"not JSON","type":"BadRequestError","code":400}}'
  const engine = await RawEngine.start(t, (call) => call.answer(400, answer))
  const stage = await GatewayStage.start(t, [engine])
  for (const [i, body] of ['{"model": "m", "messages": [', '[]', '{"model":"m"}'].entries()) {
    const seen = await seenBy(stage.request('POST /v1/chat/completions', body, json))
    assert.deepEqual([seen.status, seen.body], [400, answer])
    assert.equal(engine.calls[i]!.body, body)
  }
  assert.equal(await stage.metric('warmpath_fallbacks_total', 'body-not-understood'), 3)
})

test('slashes at the end of a path are served, never redirected', async (t) => {
  const engine = await RawEngine.start(t, ok)
  const stage = await GatewayStage.start(t, [engine])
  const { status } = await seenBy(stage.chat({}, { path: '/v1/chat/completions//?a=b' }))
  assert.equal(status, 200)
  assert.equal(engine.calls[0]!.line, 'POST /v1/chat/completions?a=b')
})

describe('paths that lead out of the API', () => {
  for (const path of [
    '/v1/../metrics',
    '/v1/%2e%2e/sleep',
    '/v1/.%2E/collective_rpc',
    '/v1/x/..%2f..%2fsleep',
    '/v1/..;/sleep',
    '/v1\\..\\sleep',
    '/v1/models/..%5c..%5csleep',
    '/v1/./chat',
    '/sleep',
    '/api/pull',
    '/api/delete',
    '/',
    '*',
  ]) {
    test(`${path} is not served`, async (t) => {
      const engine = await RawEngine.start(t, ok)
      const stage = await GatewayStage.start(t, [engine])
      const method = path === '*' ? 'OPTIONS' : 'POST'
      const { status } = await seenBy(stage.request(`${method} ${path}`, '{"model":"m"}', json))
      assert.equal(status, 404)
      assert.equal(engine.calls.length, 0)
    })
  }
})

describe('F088: stored responses', () => {
  const stored = (id: string): string =>
    JSON.stringify({ id, object: 'response', status: 'completed', output: [], usage: null })
  const body = (more: object = {}): string => JSON.stringify({ model: 'm', input: 'x', ...more })

  async function twoOwners(t: Parameters<typeof RawEngine.start>[0]) {
    const engines = await Promise.all(
      ['resp_a', 'resp_b'].map((id) => RawEngine.start(t, (call) => call.answer(200, stored(id)))),
    )
    const stage = await GatewayStage.start(t, engines)
    // In turn: the first is stored by the first engine, the second by the second.
    for (let i = 0; i < 2; i++) {
      await stage.request('POST /v1/responses', body(), json).over()
    }
    for (const engine of engines) engine.calls.length = 0
    return { engines, stage }
  }

  test('the next turn, and what asks by id alone, go to the owner', async (t) => {
    const { engines, stage } = await twoOwners(t)
    for (let i = 0; i < 3; i++) {
      const next = body({ previous_response_id: 'resp_b' })
      await stage.request('POST /v1/responses', next, json).over()
    }
    await stage.request('GET /v1/responses/resp_b').over()
    await stage.request('GET /v1/responses/resp_b/input_items?limit=2').over()
    await stage.request('POST /v1/responses/resp_b/cancel').over()
    await stage.request('DELETE /v1/responses/resp_b').over()
    assert.equal(engines[0]!.calls.length, 0)
    assert.deepEqual(
      engines[1]!.calls.slice(3).map(({ line }) => line),
      [
        'GET /v1/responses/resp_b',
        'GET /v1/responses/resp_b/input_items?limit=2',
        'POST /v1/responses/resp_b/cancel',
        'DELETE /v1/responses/resp_b',
      ],
    )
  })

  test('so do files, and the batches that are made of them', async (t) => {
    const ids = ['file-a', 'file-b', 'batch-a', 'batch-b']
    const engines = await Promise.all(
      ['a', 'b'].map((name) =>
        RawEngine.start(t, (call) => {
          const kind = call.line.includes('batches') ? 'batch' : 'file'
          call.answer(200, JSON.stringify({ id: `${kind}-${name}`, object: kind }))
        }),
      ),
    )
    const stage = await GatewayStage.start(t, engines)
    for (let i = 0; i < 2; i++) {
      await stage.request('POST /v1/files', 'x', ['content-type: text/plain']).over()
    }
    for (const file of ['file-b', 'file-a', 'file-b']) {
      const batch = JSON.stringify({ input_file_id: file, endpoint: '/v1/chat/completions' })
      const { body } = await seenBy(stage.request('POST /v1/batches', batch, json))
      assert.equal(JSON.parse(body).id, file.replace('file', 'batch'))
    }
    for (const id of ids) {
      const path = `/v1/${id.startsWith('file') ? 'files' : 'batches'}/${id}`
      for (let i = 0; i < 2; i++) {
        const { head } = await seenBy(stage.request(`GET ${path}`))
        const owner = engines[id.endsWith('a') ? 0 : 1]!
        assert.equal(headerIn(head, 'x-warmpath-endpoint'), owner.url)
      }
    }
  })

  test('one that nobody is known to hold is refused, not guessed at', async (t) => {
    const { engines, stage } = await twoOwners(t)
    const unknown = body({ previous_response_id: 'resp_z' })
    for (const client of [
      stage.request('POST /v1/responses', unknown, json),
      stage.request('GET /v1/responses/resp_z'),
    ]) {
      const seen = await seenBy(client)
      assert.equal(seen.status, 404)
      assert.equal(JSON.parse(seen.body).error.code, 'response_not_found')
    }
    assert.equal(engines[0]!.calls.length + engines[1]!.calls.length, 0)
  })

  test('with one endpoint there is nothing to guess', async (t) => {
    const engine = await RawEngine.start(t, (call) => call.answer(200, stored('resp_z')))
    const stage = await GatewayStage.start(t, [engine])
    const seen = await seenBy(stage.request('GET /v1/responses/resp_z'))
    assert.equal(seen.status, 200)
    assert.equal(headerIn(seen.head, 'x-warmpath-endpoint'), engine.url)
  })
})
