import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServerStage } from '../../../test/support/server-stage.ts'

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const stream = { status: 200, reason: '', headers: [], contentLength: null }

describe('slow and silent clients', () => {
  test('a head that does not become whole is answered 408', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send('GET / HTTP/1.1\r\n')
    // One byte now and then does not help: the whole head has one limit.
    for (let i = 0; i < 9; i++) {
      client.send('x')
      await stage.pass(1_000)
    }
    assert.equal(client.ended, null)
    await stage.pass(2_000)
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.match(text, /^HTTP\/1\.1 408 .*"code":"request_timeout"/s)
  })

  test('a connection that says nothing is closed', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client()
    await stage.pass(500)
    await stage.pass(11_000)
    assert.deepEqual(await client.over(), { how: 'end', text: '' })
  })

  test('a connection that rests after an answer is kept longer, then closed', async (t) => {
    const stage = await ServerStage.start(t)
    stage.onRequest = (request) => request.answer(200, 'body')
    const client = stage.client().send(get)
    await client.until('body')
    await stage.pass(50_000)
    assert.equal(client.ended, null)
    await stage.pass(11_000)
    assert.equal((await client.over()).how, 'end')
  })

  test('a body that stops fails; the request may be answered', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client()
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n')
    const request = await stage.request(0)
    await stage.pass(19_000)
    client.send('a')
    await request.when((one) => one.text === 'a')
    await stage.pass(19_000)
    assert.equal(request.failed, null)
    await stage.pass(2_000)
    assert.equal(request.failed, 'request_timeout')
    request.answer(408, 'slow')
    assert.match((await client.over()).text, /^HTTP\/1\.1 408 /)
  })

  test('a client that takes nothing is given up', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const request = await stage.request(0)
    client.socket.pause()
    request.served.begin(stream)
    const piece = Buffer.alloc(65_536)
    // More than the kernel's buffers take.
    for (let i = 0; i < 300; i++) request.served.write([piece], null)
    await stage.pass(29_000)
    assert.equal(request.goneWhy, null)
    await stage.pass(2_000)
    assert.equal(request.goneWhy, 'stalled')
    assert.equal(request.served.write([piece], null), true, 'harmless')
  })

  test('a client that reads again lets the answer go on', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const request = await stage.request(0)
    client.socket.pause()
    request.served.begin(stream)
    while (request.served.write([Buffer.alloc(65_536)], null));
    client.socket.resume()
    await request.when((one) => one.drains > 0)
    await stage.pass(60_000)
    assert.equal(request.goneWhy, null)
    request.served.end()
    await client.until('0\r\n\r\n')
  })
})

describe('clients that leave', () => {
  const leave = { 'in good order': 'end', 'by a reset': 'resetAndDestroy' } as const
  for (const [title, method] of Object.entries(leave)) {
    test(`before the answer, ${title}`, async (t) => {
      const stage = await ServerStage.start(t)
      const client = stage.client().send(get)
      const request = await stage.request(0)
      client.socket[method]()
      await request.when((one) => one.goneWhy !== null)
      assert.ok(request.served.over)
      await stage.server.allClosed()
    })

    test(`in the middle of the body, ${title}`, async (t) => {
      const stage = await ServerStage.start(t)
      const client = stage.client()
      client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na')
      const request = await (await stage.request(0)).when((one) => one.text === 'a')
      client.socket[method]()
      await request.when((one) => one.goneWhy !== null)
      assert.equal(request.whole, false)
    })

    test(`in the middle of the answer, ${title}`, async (t) => {
      const stage = await ServerStage.start(t)
      const client = stage.client().send(get)
      const request = await stage.request(0)
      request.served.begin(stream)
      request.served.write([Buffer.from('some')], null)
      await client.until('some')
      client.socket[method]()
      await request.when((one) => one.goneWhy !== null)
    })
  }
})

describe('answers broken off', () => {
  test('with last words: they arrive, then the connection ends without the last chunk', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const { served } = await stage.request(0)
    served.begin(stream)
    served.write([Buffer.from('some')], null)
    served.break(Buffer.from('last words'))
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.ok(text.endsWith('4\r\nsome\r\na\r\nlast words\r\n'))
  })

  test('without: the connection is reset', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const { served } = await stage.request(0)
    served.begin({ ...stream, contentLength: 9 })
    served.write([Buffer.from('some')], null)
    await client.until('some')
    served.break(null)
    assert.equal((await client.over()).how, 'reset')
  })

  test('to HTTP/1.0, whose end of the connection would look whole: reset', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send('GET / HTTP/1.0\r\n\r\n')
    const { served } = await stage.request(0)
    served.begin(stream)
    served.write([Buffer.from('some')], null)
    await client.until('some')
    served.break(Buffer.from('last words'))
    assert.equal((await client.over()).how, 'reset')
  })

  test('ending an answer that is shorter than its length breaks it', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const { served } = await stage.request(0)
    served.begin({ ...stream, contentLength: 9 })
    served.write([Buffer.from('some')], null)
    await client.until('some')
    served.end()
    assert.equal((await client.over()).how, 'reset')
  })
})

describe('the server', () => {
  test('bytes that are no request are answered in words', async (t) => {
    const stage = await ServerStage.start(t)
    const { how, text } = await stage.client().send('HELLO\r\n\r\n').over()
    assert.equal(how, 'end')
    assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n.*"code":"bad_request"/s)
    assert.equal(stage.requests.length, 0)
  })

  test('a head that is too large is answered 431', async (t) => {
    const stage = await ServerStage.start(t)
    const text = `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(5_000)}\r\n\r\n`
    assert.match((await stage.client().send(text).over()).text, /^HTTP\/1\.1 431 /)
  })

  test('connections beyond the limit are turned away', async (t) => {
    const stage = await ServerStage.start(t, { connectionsMax: 1 })
    await Promise.all([stage.client().send(get), stage.request(0)])
    await stage.client().send(get).over()
    assert.equal(stage.server.turnedAway, 1)
    assert.equal(stage.requests.length, 1)
  })

  test('no longer listening: the idle are closed, the busy after their answer', async (t) => {
    const stage = await ServerStage.start(t)
    const idle = stage.client().send(get)
    ;(await stage.request(0)).answer(200, 'zero')
    await idle.until('zero')
    const busy = stage.client().send(get)
    const request = await stage.request(1)
    const { port } = stage
    stage.server.stopListening()
    assert.equal((await idle.over()).how, 'end')
    request.answer(200, 'one')
    const { how, text } = await busy.over()
    assert.equal(how, 'end')
    assert.match(text, /Connection: close\r\n\r\none$/)
    busy.close()
    await stage.server.allClosed()
    const late = stage.client()
    assert.equal((await late.over()).how, 'reset', `port ${port} still listens`)
  })

  test('a taken socket is no longer the server’s', async (t) => {
    const stage = await ServerStage.start(t)
    const head = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const client = stage.client().send(`${head}early`)
    const { served } = await stage.request(0)
    await new Promise((resolve) => setImmediate(resolve))
    const taken = served.takeSocket()
    assert.equal(taken.head.toString(), 'early')
    taken.socket.write('from the server')
    await client.until('from the server')
    client.send('from the client')
    taken.socket.once('data', (data: Buffer) => taken.socket.write(`got: ${data}`))
    taken.socket.resume()
    await client.until('got: from the client')
    await stage.pass(100_000)
    assert.equal(client.ended, null)
  })
})
