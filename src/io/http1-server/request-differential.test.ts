/** Whatever our parser accepts, Node's (llhttp) reads in the same way: no room for smuggling. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { RequestParser } from './request-parser.ts'

interface Read {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  body: string
  whole: boolean
}

interface Reading {
  readonly requests: Read[]
  refused: boolean
}

function readByUs(bytes: Buffer, cuts: readonly number[]): Reading {
  const reading: Reading = { requests: [], refused: false }
  const parser = new RequestParser(16_384, {
    headRead: ({ method, target, headers }) =>
      reading.requests.push({ method, target, headers, body: '', whole: false }),
    bodyRead: (piece) => {
      reading.requests.at(-1)!.body += piece.toString('latin1')
    },
    bodyEnded: () => {
      reading.requests.at(-1)!.whole = true
    },
    bad: () => {
      reading.refused = true
    },
  })
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    let piece = bytes.subarray(from, cut)
    from = Math.max(from, cut)
    while (piece.length > 0 && !reading.refused) {
      piece = piece.subarray(parser.read(piece))
      if (parser.whole) parser.next()
    }
  }
  return reading
}

class Pipe extends Duplex {
  override _read(): void {}
  override _write(_piece: unknown, _encoding: unknown, done: () => void): void {
    done()
  }
  setTimeout(): this {
    return this
  }
}

async function readByNode(bytes: Buffer): Promise<Reading> {
  const reading: Reading = { requests: [], refused: false }
  const server = createServer({ maxHeaderSize: 16_384 })
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const read: Read = {
      method: request.method!,
      target: request.url!,
      headers: request.rawHeaders,
      body: '',
      whole: false,
    }
    reading.requests.push(read)
    request.on('data', (piece: Buffer) => {
      read.body += piece.toString('latin1')
    })
    request.on('end', () => {
      read.whole = true
      response.end()
    })
    request.on('error', () => {})
  }
  server.on('request', take)
  server.on('checkContinue', take)
  server.on('clientError', () => {
    reading.refused = true
  })
  const pipe = new Pipe()
  pipe.on('error', () => {})
  server.emit('connection', pipe)
  pipe.push(bytes)
  // Node answers one request after the other, each in a few turns of the loop.
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve))
  pipe.destroy()
  return reading
}

const tokens = [
  'GET ', 'POST ', '/v1/chat/completions', ' HTTP/1.1', ' HTTP/1.0', '\r\n', '\r\n', '\n', '\r',
  'Host: x', 'Host:x', 'Content-Length: 5', 'Content-Length: 0', 'Content-Length:\t5 ',
  'Content-Length : 5', 'Transfer-Encoding: chunked', 'transfer-encoding:chunked',
  'Transfer-Encoding: identity', 'Connection: close', 'Connection: keep-alive', 'X-A: b', ' folded',
  'hello', '5\r\nhello\r\n', '0\r\n\r\n', '5;a=b\r\nhello\r\n', '5 \r\nhello\r\n', '\u0000', '\t',
] as const // biome-ignore format: a table

const whole = fc.constantFrom(
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello',
  'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: t\r\n\r\n',
)

/** Good requests with pieces put in, taken out and changed. */
const stream = fc
  .tuple(
    fc.array(whole, { minLength: 1, maxLength: 3 }),
    fc.array(
      fc.record({
        at: fc.nat(200),
        remove: fc.nat(6),
        insert: fc.oneof(
          fc.constantFrom(...tokens),
          fc.nat(255).map((byte) => String.fromCharCode(byte)),
        ),
      }),
      { maxLength: 4 },
    ),
  )
  .map(([requests, edits]) => {
    let text = requests.join('')
    for (const { at, remove, insert } of edits) {
      const from = at % text.length
      text = text.slice(0, from) + insert + text.slice(from + remove)
    }
    return Buffer.from(text, 'latin1')
  })

const cuts = fc.array(fc.nat(300), { maxLength: 5 }).map((list) => list.sort((a, b) => a - b))

test('a stream that we accept is read alike by llhttp', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(stream, cuts, async (bytes, at) => {
      const ours = readByUs(bytes, at)
      const whole = ours.requests.filter((request) => request.whole)
      if (whole.length === 0) return
      accepted++
      const theirs = await readByNode(bytes)
      const comparable = theirs.requests.slice(0, whole.length)
      assert.deepEqual(comparable, whole)
    }),
    { numRuns: 400, verbose: 1 },
  )
  assert.ok(accepted > 100, `only ${accepted} streams were accepted`)
})

test('how a stream is cut into reads changes nothing', () => {
  fc.assert(
    fc.property(stream, cuts, (bytes, at) => {
      const inOne = readByUs(bytes, [])
      const cut = readByUs(bytes, at)
      assert.deepEqual(
        cut.requests.filter((request) => request.whole),
        inOne.requests.filter((request) => request.whole),
      )
      assert.equal(cut.refused, inOne.refused)
    }),
    { numRuns: 2_000 },
  )
})
