import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RequestHead } from './read-request-head.ts'
import { RequestParser, type RequestSink } from './request-parser.ts'

class Recorded implements RequestSink {
  readonly requests: { head: RequestHead; body: string; whole: boolean }[] = []
  problem: string | null = null
  readonly parser = new RequestParser(1_024, this)

  headRead(head: RequestHead): void {
    this.requests.push({ head, body: '', whole: false })
  }
  bodyRead(piece: Buffer): void {
    assert.ok(piece.length > 0)
    this.requests.at(-1)!.body += piece.toString('latin1')
  }
  bodyEnded(): void {
    this.requests.at(-1)!.whole = true
  }
  bad(code: string, message: string): void {
    this.problem = `${code}: ${message}`
  }

  /** Feeds the text in reads of `size` bytes, answering each request as soon as it is whole. */
  feed(text: string, size = text.length): this {
    const bytes = Buffer.from(text, 'latin1')
    for (let at = 0; at < bytes.length; at += size) {
      let read = bytes.subarray(at, at + size)
      while (read.length > 0 && this.problem === null) {
        const taken = this.parser.read(read)
        read = read.subarray(taken)
        if (this.parser.whole) this.parser.next()
      }
    }
    return this
  }
}

const get = 'GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n'
const post = 'POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'
const chunked =
  'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: t\r\n\r\n'

describe('whole requests', () => {
  for (const size of [1, 2, 3, 7, 64, 4_096]) {
    test(`three in a row, in reads of ${size}`, () => {
      const { requests, problem } = new Recorded().feed(`\r\n${get}${post}${chunked}${get}`, size)
      assert.equal(problem, null)
      assert.deepEqual(
        requests.map(({ head, body, whole }) => [head.method, head.target, body, whole]),
        [
          ['GET', '/v1/models', '', true],
          ['POST', '/a?b=c', 'hello', true],
          ['POST', '/a', 'hello!', true],
          ['GET', '/v1/models', '', true],
        ],
      )
    })
  }

  test('headers keep their case, order and repetition', () => {
    const text = 'GET / HTTP/1.1\r\nHOST: x\r\nX-a:1\r\nx-A: \t2 \r\nEmpty:\r\n\r\n'
    const [request] = new Recorded().feed(text).requests
    assert.deepEqual(request!.head.headers, 'HOST x X-a 1 x-A 2 Empty '.split(' '))
  })
})

describe('what the head means', () => {
  const headOf = (text: string): RequestHead => {
    const recorded = new Recorded().feed(text)
    assert.equal(recorded.problem, null)
    return recorded.requests[0]!.head
  }

  for (const [lines, minor, persistent] of [
    ['', 1, true],
    ['Connection: close\r\n', 1, false],
    ['Connection: keep-alive, Close\r\n', 1, false],
    ['', 0, false],
    ['Connection: Keep-Alive\r\n', 0, true],
  ] as const) {
    test(`HTTP/1.${minor} with ${JSON.stringify(lines)}: persistent ${persistent}`, () => {
      const head = headOf(`GET / HTTP/1.${minor}\r\nHost: x\r\n${lines}\r\n`)
      assert.equal(head.persistent, persistent)
    })
  }

  test('an upgrade needs both headers', () => {
    const both = 'Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n'
    assert.equal(headOf(`GET / HTTP/1.1\r\nHost: x\r\n${both}\r\n`).upgrade, 'websocket')
    assert.equal(headOf('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n').upgrade, null)
  })

  test('the absolute form is reduced to the path', () => {
    assert.equal(headOf('GET http://a:80/b?c HTTP/1.1\r\nHost: x\r\n\r\n').target, '/b?c')
    assert.equal(headOf('GET HTTPS://a HTTP/1.1\r\nHost: x\r\n\r\n').target, '/')
    assert.equal(headOf('GET http://a?x HTTP/1.1\r\nHost: x\r\n\r\n').target, '/?x')
  })
})

describe('what could be understood in two ways is refused', () => {
  const refused: Record<string, string> = {
    'no version': 'GET /\r\nHost: x\r\n\r\n',
    'version 2.0': 'GET / HTTP/2.0\r\nHost: x\r\n\r\n',
    'version in lower case': 'GET / http/1.1\r\nHost: x\r\n\r\n',
    'two spaces before the version': 'GET /  HTTP/1.1\r\nHost: x\r\n\r\n',
    'space in the target': 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
    'control character in the target': 'GET /\u0001 HTTP/1.1\r\nHost: x\r\n\r\n',
    'bytes above ASCII in the target': 'GET /\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n',
    'fragment in the target': 'GET /#a HTTP/1.1\r\nHost: x\r\n\r\n',
    'authority form': 'CONNECT a:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    'malformed method': 'G(T / HTTP/1.1\r\nHost: x\r\n\r\n',
    'unknown method': 'helloGET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'a TLS greeting': '\u0016\u0003\u0001\u0002\u0000',
    'line ends without CR': 'GET / HTTP/1.1\nHost: x\n\n',
    'one line end without CR': 'GET / HTTP/1.1\r\nA: b\nHost: x\r\n\r\n',
    'bare CR': 'GET / HTTP/1.1\r\nA: b\rc\r\nHost: x\r\n\r\n',
    'NUL in a value': 'GET / HTTP/1.1\r\nA: \u0000\r\nHost: x\r\n\r\n',
    'folded line': 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n',
    'space before the colon': 'GET / HTTP/1.1\r\nHost : x\r\n\r\n',
    'no colon': 'GET / HTTP/1.1\r\nHost\r\n\r\n',
    'no Host': 'GET / HTTP/1.1\r\nA: b\r\n\r\n',
    'two Hosts': 'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n',
    'both lengths':
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    'two lengths': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n',
    'list of lengths': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n',
    'signed length': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n',
    'hexadecimal length': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\n',
    'endless length': `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(16)}\r\n\r\n`,
    'empty length': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n',
    'coding before chunked':
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
    'unknown coding': 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n',
    'chunked twice':
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n',
    'chunked in HTTP/1.0': 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n',
    'other expectation': 'POST / HTTP/1.1\r\nHost: x\r\nExpect: a\r\nContent-Length: 1\r\n\r\n',
  }
  for (const [title, text] of Object.entries(refused)) {
    for (const size of [1, text.length]) {
      test(`${title}, in reads of ${size}`, () => {
        const { problem, requests } = new Recorded().feed(text, size)
        assert.match(problem ?? '', /^bad_request: /)
        assert.deepEqual(requests, [])
      })
    }
  }

  for (const [title, body] of Object.entries({
    'size that is no number': 'x\r\n',
    'signed size': '+5\r\nhello\r\n',
    'size with a bare LF': '5\nhello\r\n',
    'chunk longer than its size': '4\r\nhello\r\n0\r\n\r\n',
    'size beyond all bounds': `${'f'.repeat(17)}\r\n`,
    'malformed trailer': '0\r\na b: c\r\n\r\n',
    'trailer that speaks of the framing': '0\r\nContent-Length: 3\r\n\r\n',
  })) {
    test(`chunked body: ${title}`, () => {
      const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
      const { problem, requests } = new Recorded().feed(head + body)
      assert.match(problem ?? '', /^bad_request: /)
      assert.equal(requests[0]!.whole, false)
    })
  }
})

test('a head beyond the limit is too large, however it comes', () => {
  for (const size of [1, 100, 10_000]) {
    const text = `GET /${'a'.repeat(1_100)} HTTP/1.1\r\nHost: x\r\n\r\n`
    assert.match(new Recorded().feed(text, size).problem ?? '', /^headers_too_large/)
    const many = `GET / HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(300)}\r\n`
    assert.match(new Recorded().feed(many, size).problem ?? '', /^headers_too_large/)
  }
})

test('after what is refused nothing is read', () => {
  const recorded = new Recorded().feed('GET /  HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.equal(recorded.parser.read(Buffer.from(get)), get.length)
  assert.deepEqual(recorded.requests, [])
})
