import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { renderTextScanWasm } from '../../../scripts/build-wasm.ts'
import { parseJson } from '../json.ts'
import { readRequest } from '../read-request.ts'
import { setAsideOf, wholeText, withParsedBody } from './set-aside.ts'

/** Enough blanks that the body is scanned, whatever it holds. */
const padding = ' '.repeat(2_048)

/** The parsed text with all that was set aside put back. */
function restored(text: string): unknown {
  return withParsedBody(Buffer.from(text), (parsed) => putBack(parsed))
}

function putBack(value: unknown): unknown {
  if (typeof value === 'string') return wholeText(value)
  if (Array.isArray(value)) return value.map(putBack)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, putBack(one)]))
}

const character = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...'abc {}[]:,0') },
  fc.constantFrom('"', '\\', '/', '\n', '\t', '\u0000', '\u007f', 'é', '漢', '😀', '\ud800'),
)
const text = fc
  .tuple(fc.array(character, { maxLength: 40 }), fc.constantFrom(1, 1, 5, 20))
  .map(([characters, times]) => characters.join('').repeat(times))

/** JSON as other writers have it: escapes where none are needed, blanks anywhere. */
const written = fc
  .tuple(
    fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(null, true, false),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    })).value,
    fc.boolean(),
    fc.boolean(),
    fc.nat(3),
  )
  .map(([value, ascii, slashes, indent]) => {
    let json = JSON.stringify(value, null, indent)
    if (slashes) json = json.replaceAll('/', '\\/')
    if (ascii) {
      json = json.replaceAll(/[^ -~\n]/g, (c) => {
        return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
      })
    }
    return json
  })

test('what is set aside and put back is what was written', () => {
  fc.assert(
    fc.property(written, (json) => {
      assert.deepEqual(restored(json + padding), JSON.parse(Buffer.from(json).toString()))
    }),
    { numRuns: 2_000 },
  )
})

test('what is no JSON is found to be none', () => {
  const broken = fc.tuple(written, fc.nat(), fc.nat(3), character)
  fc.assert(
    fc.property(broken, ([json, at, removed, inserted]) => {
      const from = at % json.length
      const cut = json.slice(0, from) + inserted + json.slice(from + removed)
      const plain = parseJson(Buffer.from(cut).toString())
      assert.deepEqual(restored(cut + padding), plain)
    }),
    { numRuns: 4_000 },
  )
})

describe('what could pass for a stand-in', () => {
  for (const [title, value] of Object.entries({
    'DEL and seven digits': '\u007f0000000',
    'a number that is not there': '\u007f0ffffff',
    'DEL alone': '\u007f',
  })) {
    test(`${title} is itself`, () => {
      const long = 'x'.repeat(200)
      for (const json of [
        JSON.stringify([long, value]),
        JSON.stringify([long, value]).replace('\u007f', '\\u007f'),
        JSON.stringify([long, value]).replace('\u007f', '\\u007F'),
      ]) {
        assert.deepEqual(restored(json + padding), [long, value])
      }
    })
  }

  test('outside of a body nothing stands for anything', () => {
    assert.equal(setAsideOf('\u007f0000000'), null)
    assert.equal(wholeText('\u007f0000000'), '\u007f0000000')
  })
})

describe('malformed escapes of a long string', () => {
  for (const malformed of ['\\u12', '\\u12G4', '\\u@`12', '\\x', '\\u', '\\']) {
    test(JSON.stringify(malformed), () => {
      const json = `["${'x'.repeat(200)}${malformed}"]`
      assert.equal(parseJson(json), undefined)
      assert.equal(restored(json + padding), undefined)
    })
  }
})

test('bytes that are no UTF-8 are read as the plain parser reads them', () => {
  const body = Buffer.from(`["${'\u00ff'.repeat(200)}"]${padding}`, 'latin1')
  const parsed = withParsedBody(body, putBack)
  assert.deepEqual(parsed, ['\ufffd'.repeat(200)])
})

test('a prompt has the same chain whether it was scanned or parsed', () => {
  const content = fc.array(text, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(content, fc.boolean(), (texts, ascii) => {
      const messages = texts.map((one, i) => ({ role: i % 2 ? 'assistant' : 'user', content: one }))
      const tools = [{ type: 'function', function: { name: 'f', description: texts[0] } }]
      let json = JSON.stringify({ model: 'm', messages, tools })
      if (ascii) {
        json = json.replaceAll(/[^ -~]/g, (c) => {
          return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
        })
      }
      // A string that could pass for a stand-in has the whole body parsed as usual.
      const suspicious = `${json.slice(0, -1)},"z":"\\u007f"}`
      const [plain, scanned] = [suspicious, json + padding].map((one) =>
        readRequest('chat', Buffer.from(one), ''),
      )
      assert.ok(plain!.ok && scanned!.ok)
      assert.deepEqual(scanned.request.prompt.chain, plain.request.prompt.chain)
      assert.equal(scanned.request.prompt.bytes, plain.request.prompt.bytes)
    }),
    { numRuns: 1_000 },
  )
})

test('the compiled module is made of its source; npm run build:wasm writes it', async () => {
  const path = join(import.meta.dirname, 'text-scan-wasm.ts')
  assert.equal(readFileSync(path, 'utf8'), await renderTextScanWasm())
})
