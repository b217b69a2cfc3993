import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EventSplitter } from './event-splitter.ts'
import { protocolLimits } from './limits.ts'

/** The data of each event of a text that is cut at the given places. */
function split(text: string | Buffer, cuts: readonly number[] = []): string[] {
  const bytes = Buffer.from(text)
  const events: string[] = []
  const splitter = new EventSplitter((data, start, end, name) =>
    events.push(`${name === 'error' ? 'error ' : ''}${data.toString('utf8', start, end)}`),
  )
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const to of [...places, bytes.length]) {
    splitter.push(Buffer.from(bytes.subarray(from, to)))
    from = to
  }
  assert.equal(splitter.gaveUp, false)
  return events
}

test('events end with a blank line, whatever ends a line', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    assert.deepEqual(split(`data: a${end}${end}data: b${end}${end}data: c${end}`), ['a', 'b'])
  }
  assert.deepEqual(split('data: a\r\n\ndata: b\n\r\ndata: c\r\r'), ['a', 'b', 'c'])
})

test('the space behind the colon is optional, and only one is taken', () => {
  assert.deepEqual(split('data:a\n\ndata:  b\n\ndata:\n\ndata\n\n'), ['a', ' b', '', ''])
})

test('data lines are joined; comments and other fields are no data', () => {
  assert.deepEqual(split(': ping\n\nid: 1\ndata: a\n: x\ndata: b\nretry: 5\n\nevent: e\n\n'), [
    'a\nb',
  ])
  assert.deepEqual(split('dataset: a\nda: b\n\n'), [])
})

test('an event named error is told from the others', () => {
  assert.deepEqual(split('event: error\ndata: a\n\ndata: b\n\nevent: errors\ndata: c\n\n'), [
    'error a',
    'b',
    'c',
  ])
})

const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `data: ${text}`),
  fc.constantFrom('data', 'data:x', ': comment', '', '', 'event: error', 'id: 7', 'data: é日😀'),
)
const end = fc.constantFrom('\n', '\r\n', '\r')
const stream = fc
  .array(fc.tuple(line, end), { maxLength: 30 })
  .map((lines) => lines.map(([text, eol]) => text.replace(/[\r\n]/g, '') + eol).join(''))

test('F001: the same events come out, wherever the bytes are cut', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(1_000)), (text, cuts) => {
      assert.deepEqual(split(text, cuts), split(text))
    }),
  )
  const text = 'event: error\r\ndata: {"a":\r\ndata: "é日😀"}\r\n\r\ndata: b\r\n\r\n'
  const single = Array.from({ length: Buffer.byteLength(text) }, (_, i) => i)
  assert.deepEqual(split(text, single), ['error {"a":\n"é日😀"}', 'b'])
})

test('F001: events agree with a plain reading of the standard', () => {
  const plain = (text: string): string[] => {
    const events: string[] = []
    let data: string[] = []
    let name = ''
    const lines = text.split(/\r\n|\n|\r/)
    for (const one of lines.slice(0, -1)) {
      if (one === '') {
        if (data.length > 0) events.push(name + data.join('\n'))
        data = []
        name = ''
      } else if (one === 'data' || one.startsWith('data:')) {
        data.push(one.slice(5).replace(/^ /, ''))
      } else if (one === 'event: error') name = 'error '
    }
    return events
  }
  fc.assert(fc.property(stream, (text) => assert.deepEqual(split(text), plain(text))))
})

test('an event without end is kept up to the limit, and no further', () => {
  const events: number[] = []
  const splitter = new EventSplitter((_bytes, start, stop) => events.push(stop - start))
  const piece = Buffer.alloc(64 * 1024, 'x')
  splitter.push(Buffer.from('data: '))
  for (let sent = 0; sent < protocolLimits.eventBytesMax - 2 * piece.length; sent += piece.length) {
    splitter.push(piece)
  }
  splitter.push(Buffer.from('\n\n'))
  assert.equal(splitter.gaveUp, false)
  assert.deepEqual(events, [protocolLimits.eventBytesMax - 2 * piece.length])
  for (let sent = 0; sent <= protocolLimits.eventBytesMax; sent += piece.length)
    splitter.push(piece)
  assert.equal(splitter.gaveUp, true)
  splitter.push(Buffer.from('\n\ndata: x\n\n'))
  assert.equal(events.length, 1)
})
