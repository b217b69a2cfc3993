import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServerStage } from '../../../test/support/server-stage.ts'

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const post = (body: string, lines = ''): string =>
  `POST / HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`

const chunkedHead = { status: 200, reason: '', headers: ['A', 'b'], contentLength: null }
const headless = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4)

describe('answers', () => {
  test('of known length, one after the other on one connection', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client()
    for (const number of [0, 1]) {
      client.send(post('hello'))
      const request = await (await stage.request(number)).when((one) => one.whole)
      assert.equal(request.text, 'hello')
      request.answer(200, `answer ${number}`)
      const text = await client.until(`answer ${number}`)
      assert.match(text, /^HTTP\/1\.1 200 OK\r\nDate: .* GMT\r\nContent-Length: 8\r\n\r\n/)
      client.take()
    }
    assert.equal(stage.server.connections, 1)
  })

  test('of unknown length are chunked; whole chunks go out as they came', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const { served } = await stage.request(0)
    served.begin(chunkedHead)
    await client.until('\r\n\r\n')
    served.write([Buffer.from('one'), Buffer.from('two')], null)
    const raw = Buffer.from('3\r\nabc\r\n2\r\nde\r\n')
    served.write([Buffer.from('abc'), Buffer.from('de')], raw)
    served.end()
    const text = await client.until('0\r\n\r\n')
    assert.match(text, /\r\nTransfer-Encoding: chunked\r\n/)
    assert.equal(headless(text), `6\r\nonetwo\r\n${raw}0\r\n\r\n`)
  })

  test('a raw chunk that comes with the head is framed with it', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const { served } = await stage.request(0)
    served.begin(chunkedHead)
    served.write([Buffer.from('abc')], Buffer.from('3\r\nabc\r\n'))
    served.end()
    assert.equal(headless(await client.until('0\r\n\r\n')), '3\r\nabc\r\n0\r\n\r\n')
  })

  test('larger than one write arrive whole', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const request = await stage.request(0)
    const body = 'x'.repeat(1_000_000)
    request.answer(200, `${body}the end`)
    assert.equal(headless(await client.until('the end')).length, 1_000_007)
  })

  test('to HEAD have no body', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get.replace('GET', 'HEAD') + get)
    stage.onRequest = (request) => request.answer(200, 'body')
    const text = await client.until('body')
    assert.equal(text.split('Content-Length: 4\r\n\r\n').length, 3)
    assert.equal(text.split('body').length, 2)
  })

  test('to HTTP/1.0 of unknown length end with the connection', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    const { served } = await stage.request(0)
    served.begin(chunkedHead)
    served.write([Buffer.from('body')], null)
    served.end()
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.match(text, /Connection: close\r\n\r\nbody$/)
  })

  test('to HTTP/1.0 that keeps alive say so', async (t) => {
    const stage = await ServerStage.start(t)
    stage.onRequest = (request) => request.answer(200, 'body')
    const text = 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
    const client = stage.client().send(text)
    assert.match(await client.until('body'), /Connection: keep-alive\r\n/)
    client.take()
    await client.send(text).until('body')
  })

  test('a client that wants to close is closed', async (t) => {
    const stage = await ServerStage.start(t)
    stage.onRequest = (request) => request.answer(200, 'body')
    const { how, text } = await stage
      .client()
      .send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      .over()
    assert.equal(how, 'end')
    assert.match(text, /Connection: close\r\n/)
  })

  test('a body longer than its length is never sent', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const { served } = await stage.request(0)
    served.begin({ ...chunkedHead, contentLength: 3 })
    served.write([Buffer.from('abc')], null)
    await client.until('abc')
    served.write([Buffer.from('HTTP/1.1 200 OK')], null)
    const { how, text } = await client.over()
    assert.equal(how, 'reset')
    assert.ok(text.endsWith('abc'))
  })
})

describe('pipelined requests', () => {
  test('are answered in order, whether at once or late', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(post('first') + get + post('third'))
    const first = await (await stage.request(0)).when((one) => one.whole)
    assert.equal(stage.requests.length, 1)
    first.answer(200, 'answer 1')
    const second = await stage.request(1)
    stage.onRequest = (request) => request.answer(200, 'answer 3')
    second.answer(200, 'answer 2')
    const text = await client.until('answer 3')
    assert.deepEqual(text.match(/answer \d/g), ['answer 1', 'answer 2', 'answer 3'])
  })

  test('beyond the bound are not read while one is answered', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(get)
    const first = await stage.request(0)
    client.send(post('x'.repeat(20_000_000)))
    await stage.pass(20_000)
    assert.ok(client.socket.writableLength > 0, 'everything was taken')
    first.answer(200, 'one')
    const second = await (await stage.request(1)).when((one) => one.whole)
    assert.equal(second.text.length, 20_000_000)
  })
})

describe('bodies', () => {
  test('whoever expects to be told to go on is told', async (t) => {
    const stage = await ServerStage.start(t)
    const client = stage.client().send(post('', 'Expect: 100-continue\r\n').replace(': 0', ': 5'))
    await client.until('HTTP/1.1 100 Continue\r\n\r\n')
    client.send('hello')
    const request = await (await stage.request(0)).when((one) => one.whole)
    assert.equal(request.text, 'hello')
  })

  test('whoever is refused at once is not told to go on', async (t) => {
    const stage = await ServerStage.start(t)
    stage.onRequest = (request) => request.answer(413, 'no')
    const client = stage.client().send(post('', 'Expect: 100-continue\r\n').replace(': 0', ': 5'))
    const { text } = await client.over()
    assert.match(text, /^HTTP\/1\.1 413 Payload Too Large\r\n.*Connection: close\r\n\r\nno$/s)
  })

  test('an early answer reaches a client that is still sending', async (t) => {
    const stage = await ServerStage.start(t)
    stage.onRequest = (request) => request.answer(413, 'too much')
    const client = stage.client()
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n')
    for (let i = 0; i < 9; i++) client.send(Buffer.alloc(1_000_000))
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.ok(text.endsWith('too much'))
    // The client does not close its half: it is waited for, but not for long.
    await stage.pass(1_000)
    assert.equal(stage.server.connections, 1)
    await stage.pass(2_000)
    await stage.server.allClosed()
  })

  test('paused, nothing more is read; resumed, the rest comes', async (t) => {
    const stage = await ServerStage.start(t)
    stage.onRequest = (request) => request.served.pauseBody()
    const client = stage.client().send(post('x'.repeat(5_000_000)))
    const request = await stage.request(0)
    await stage.pass(30_000)
    assert.ok(request.text.length < 200_000)
    assert.equal(request.failed, null, 'a pause is not the client’s silence')
    request.served.resumeBody()
    await request.when((one) => one.whole)
    assert.equal(request.text.length, 5_000_000)
    client.close()
  })

  test('malformed in the middle: the request fails and may be answered', async (t) => {
    const stage = await ServerStage.start(t)
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const client = stage.client().send(`${head}5\r\nhello\r\nz\r\n`)
    const request = await (await stage.request(0)).when((one) => one.failed !== null)
    assert.equal(request.failed, 'bad_request')
    request.answer(400, 'mend it')
    const { how, text } = await client.over()
    assert.equal(how, 'end')
    assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n.*Connection: close\r\n\r\nmend it$/s)
  })
})
