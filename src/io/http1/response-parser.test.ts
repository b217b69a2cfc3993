import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ResponseHead } from './response-head.ts'
import { ResponseParser, type ResponseSink } from './response-parser.ts'

interface Read {
  events: string[]
  raws: string[]
}

/** Everything the parser says of these bytes, body pieces joined so that splits do not show. */
function parse(reads: readonly Buffer[], method = 'GET', mayUpgrade = false, close = true): Read {
  const events: string[] = []
  const raws: string[] = []
  let body = ''
  const flush = (): void => {
    if (body !== '') events.push(`body ${body}`)
    body = ''
  }
  const sink: ResponseSink = {
    headRead(head: ResponseHead) {
      const { status, reason, persistent, keepAliveMs } = head
      const flat = head.headers.join('|')
      events.push(`head ${status} ${reason} [${flat}] ${persistent} ${keepAliveMs}`)
    },
    bodyRead(payload, raw) {
      assert.ok(payload.length > 0 && payload.every((piece) => piece.length > 0))
      const text = Buffer.concat([...payload]).toString('latin1')
      body += text
      if (raw !== null) raws.push(raw.toString('latin1'))
      if (raw !== null) assert.equal(unchunk(raw.toString('latin1')), text)
    },
    ended(trailers, clean) {
      flush()
      events.push(`end [${trailers.join('|')}] ${clean}`)
    },
    switched(head, rest) {
      events.push(`switched ${head.status} ${rest.toString('latin1')}`)
    },
    bad(detail) {
      flush()
      events.push(`bad ${detail}`)
    },
  }
  const parser = new ResponseParser(2048)
  parser.start(method, mayUpgrade, sink)
  for (const read of reads) parser.read(read)
  if (close && !parser.finish()) events.push('closed')
  return { events, raws }
}

function unchunk(raw: string): string {
  let text = ''
  for (let at = 0; at < raw.length; ) {
    const sizeEnd = raw.indexOf('\r\n', at)
    const size = Number.parseInt(raw.slice(at, sizeEnd), 16)
    assert.ok(size > 0, 'raw holds no last chunk')
    text += raw.slice(sizeEnd + 2, sizeEnd + 2 + size)
    assert.equal(raw.slice(sizeEnd + 2 + size, sizeEnd + 4 + size), '\r\n')
    at = sizeEnd + 4 + size
  }
  return text
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

const good: Record<string, { text: string; method?: string; events: string[] }> = {
  'Content-Length': {
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b c \t\r\n\r\nhello',
    events: ['head 200 OK [Content-Length|5|X-A|b c] true -1', 'body hello', 'end [] true'],
  },
  'chunks, extensions and trailers': {
    text: `${chunked}5;a=b\r\nhello\r\n00A ;q="x"\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n`,
    events: [
      'head 200 OK [Transfer-Encoding|chunked] true -1',
      'body hello0123456789',
      'end [X-Sum|1|Y|] true',
    ],
  },
  'a body that the close ends': {
    text: 'HTTP/1.0 200 \r\nServer: x\r\n\r\nto the end',
    events: ['head 200  [Server|x] false -1', 'body to the end', 'end [] false'],
  },
  'a head without reason or headers': {
    text: 'HTTP/1.1 204\r\n\r\n',
    events: ['head 204  [] true -1', 'end [] true'],
  },
  '304 with the length of what it does not carry': {
    text: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n',
    events: ['head 304 Not Modified [Content-Length|99] true -1', 'end [] true'],
  },
  'an answer to HEAD': {
    method: 'HEAD',
    text: `${chunked}`,
    events: ['head 200 OK [Transfer-Encoding|chunked] true -1', 'end [] true'],
  },
  'interim answers before the final one': {
    text:
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' +
      'HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n',
    events: ['head 500 Oh [Content-Length|0] true -1', 'end [] true'],
  },
  'Connection: close, and bytes of latin1': {
    text:
      'HTTP/1.1 200 \xe9t\xe9\r\nconnection: Foo , CLOSE\r\nx: \xff\r\n' +
      'Content-length: 1\r\n\r\n!',
    events: [
      'head 200 \xe9t\xe9 [connection|Foo , CLOSE|x|\xff|Content-length|1] false -1',
      'body !',
      'end [] true',
    ],
  },
  'HTTP/1.0 kept alive, with a hint': {
    text:
      'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: max=9, timeout=7\r\n' +
      'Content-Length: 1\r\n\r\n!',
    events: [
      'head 200 OK [Connection|keep-alive|Keep-Alive|max=9, timeout=7|Content-Length|1] true 7000',
      'body !',
      'end [] true',
    ],
  },
}

const bad: Record<string, { text: string; detail: string }> = {
  'another protocol': { text: 'SSH-2.0-x\r\n', detail: 'not HTTP/1.x' },
  'HTTP/2.0': { text: 'HTTP/2.0 200 OK\r\n\r\n', detail: 'not HTTP/1.x' },
  'HTTP/1.2': { text: 'HTTP/1.2 200 OK\r\n\r\n', detail: 'HTTP version is neither 1.0 nor 1.1' },
  'two digits of status': { text: 'HTTP/1.1 20 OK\r\n\r\n', detail: 'status is not three digits' },
  'four digits of status': { text: 'HTTP/1.1 2000\r\n\r\n', detail: 'status is not three digits' },
  'status 099': { text: 'HTTP/1.1 099 X\r\n\r\n', detail: 'status below 100' },
  'a bare LF': { text: 'HTTP/1.1 200 OK\nA: b\r\n\r\n', detail: 'line end without CR' },
  'a bare CR': {
    text: 'HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n',
    detail: 'control character in a header value',
  },
  'a folded line': { text: 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n', detail: 'folded header line' },
  'a blank before the colon': {
    text: 'HTTP/1.1 200 OK\r\nA : b\r\n\r\n',
    detail: 'malformed header name',
  },
  'no name': { text: 'HTTP/1.1 200 OK\r\n: b\r\n\r\n', detail: 'malformed header name' },
  'no colon': { text: 'HTTP/1.1 200 OK\r\nabc\r\n\r\n', detail: 'malformed header name' },
  'NUL in a value': {
    text: 'HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n',
    detail: 'control character in a header value',
  },
  'two lengths': {
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n!',
    detail: 'Content-Length given twice',
  },
  'a list of lengths': {
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n!',
    detail: 'malformed Content-Length',
  },
  'a signed length': {
    text: 'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n!',
    detail: 'malformed Content-Length',
  },
  'both framings': {
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    detail: 'both Transfer-Encoding and Content-Length',
  },
  'a transfer coding that is not chunked': {
    text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    detail: 'Transfer-Encoding other than chunked',
  },
  'chunks in HTTP/1.0': {
    text: 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    detail: 'Transfer-Encoding in HTTP/1.0',
  },
  '101 that nobody asked for': {
    text: 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    detail: '101 without an upgrade asked for',
  },
  'a head beyond the limit': {
    text: `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(3000)}\r\n\r\n`,
    detail: 'head longer than 2048 bytes',
  },
  'too many header lines': {
    text: `HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(257)}\r\n`,
    detail: 'too many headers',
  },
  'endless interim answers': {
    text: 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(40),
    detail: 'too many 1xx responses',
  },
  'a chunk size that is none': { text: `${chunked}x\r\n`, detail: 'chunk size is not hexadecimal' },
  'a chunk size of 2^56': {
    text: `${chunked}100000000000000\r\n`,
    detail: 'chunk size too large',
  },
  'a chunk that goes on': {
    text: `${chunked}1\r\nab\r\n`,
    detail: 'chunk longer than its size',
  },
  'a chunk size line ended by LF': {
    text: `${chunked}1\na\r\n0\r\n\r\n`,
    detail: 'chunk size is not hexadecimal',
  },
  'LF in a chunk extension': {
    text: `${chunked}1;a\na\r\n0\r\n\r\n`,
    detail: 'control character in a chunk extension',
  },
  'an endless chunk extension': {
    text: `${chunked}1;${'a'.repeat(2000)}\r\n`,
    detail: 'chunk size line too long',
  },
  'a folded trailer': {
    text: `${chunked}0\r\nA: b\r\n c\r\n\r\n`,
    detail: 'folded header line',
  },
  'trailers beyond the limit': {
    text: `${chunked}0\r\nA: ${'x'.repeat(3000)}\r\n\r\n`,
    detail: 'head longer than 2048 bytes',
  },
}

for (const [name, { text, method, events }] of Object.entries(good)) {
  test(`reads ${name}`, () => {
    const close = text.startsWith('HTTP/1.0 200 \r')
    assert.deepEqual(parse([bytes(text)], method, false, close).events, events)
  })
}

for (const [name, { text, detail }] of Object.entries(bad)) {
  test(`refuses ${name}`, () => {
    assert.equal(parse([bytes(text)], 'GET', false, false).events.at(-1), `bad ${detail}`)
  })
}

test('one byte a read tells the same as one read', () => {
  const all = { ...good, ...bad }
  for (const [name, { text, method }] of Object.entries<{ text: string; method?: string }>(all)) {
    const slow = parse([...text].map(bytes), method)
    assert.deepEqual(slow.events, parse([bytes(text)], method).events, name)
  }
})

/** Responses of all sorts, and good ones with a few bytes changed, cut out or added. */
const responseText = fc.oneof(
  fc.constantFrom(...Object.values(good).map(({ text }) => text)),
  fc.constantFrom(...Object.values(bad).map(({ text }) => text)),
  fc
    .tuple(
      fc.constantFrom(...Object.values(good).map(({ text }) => text)),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('\r', '\n', ' ', ':', '0', 'f', ';', '')), {
        maxLength: 3,
      }),
      fc.boolean(),
    )
    .map(([text, edits, insert]) => {
      let edited = text
      for (const [position, piece] of edits) {
        const at = position % edited.length
        edited = edited.slice(0, at) + piece + edited.slice(insert ? at : at + 1)
      }
      return edited
    }),
)

test('any split of any bytes gives the same callbacks', () => {
  fc.assert(
    fc.property(
      responseText,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.constantFrom('GET', 'HEAD'),
      (text, cuts, method) => {
        const positions = cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b)
        const reads: Buffer[] = []
        let before = 0
        for (const at of [...positions, text.length]) {
          if (at > before) reads.push(bytes(text.slice(before, at)))
          before = at
        }
        assert.deepEqual(
          withoutClean(parse(reads, method)),
          withoutClean(parse([bytes(text)], method)),
        )
      },
    ),
    { numRuns: 3000 },
  )
})

/** Whether bytes follow a response is known only when they come with its end. */
function withoutClean({ events }: Read): string[] {
  return events.map((event) => (event.startsWith('end') ? event.replace(/ \w+$/, '') : event))
}

test('raw is given for whole chunks without extensions, and only then', () => {
  const raws = (...reads: string[]) => parse([chunked, ...reads].map(bytes), 'GET').raws
  assert.deepEqual(raws('1\r\na\r\n2\r\nbc\r\n'), ['1\r\na\r\n2\r\nbc\r\n'])
  assert.deepEqual(raws('1\r\na\r\n', '2\r\nbc\r\n'), ['1\r\na\r\n', '2\r\nbc\r\n'])
  assert.deepEqual(raws('1\r\na\r\n0\r\n\r\n'), ['1\r\na\r\n'], 'never the last chunk')
  assert.deepEqual(raws('1\r\na\r\n2', '\r\nbc\r\n'), ['1\r\na\r\n'], 'half a size line')
  assert.deepEqual(raws('1\r\na\r\n2\r\nb', 'c\r\n'), [], 'half a chunk')
  assert.deepEqual(raws('1;x\r\na\r\n'), [], 'an extension')
  assert.deepEqual(raws('1\r\na\r\n0;x\r\n\r\n'), [], 'an extension of the last chunk')
})

test('tells of bytes behind a response', () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  assert.equal(parse([bytes(`${ok}x`)], 'GET', false, false).events.at(-1), 'end [] false')
  assert.equal(parse([bytes(`${chunked}0\r\n\r\nx`)], 'GET').events.at(1), 'end [] false')
})

test('hands over what follows a 101', () => {
  const text = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nframes'
  assert.deepEqual(parse([bytes(text)], 'GET', true, false).events, ['switched 101 frames'])
})
