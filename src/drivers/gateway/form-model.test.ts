import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formPartsMax, modelOfForm } from './form-model.ts'

const type = 'multipart/form-data; boundary=xyz'

function part(head: string, value: string): string {
  return `--xyz\r\n${head}\r\n\r\n${value}\r\n`
}

function field(name: string, value: string): string {
  return part(`Content-Disposition: form-data; name="${name}"`, value)
}

function formOf(...parts: string[]): Buffer {
  return Buffer.from(`${parts.join('')}--xyz--\r\n`)
}

function modelIn(body: Buffer, contentType = type): string | null {
  return modelOfForm(contentType, body)?.model ?? null
}

describe('F112: the model of a multipart form', () => {
  test('is found behind a file, with the place where it stands', () => {
    const file = part('Content-Disposition: form-data; name="file"; filename="a.wav"', '\0\xff')
    const body = formOf(file, field('model', 'org/ä'), field('language', 'en'))
    const found = modelOfForm(type, body)!
    assert.equal(found.model, 'org/ä')
    assert.equal(body.toString('utf8', found.span!.start, found.span!.end), 'org/ä')
  })

  const heads = [
    'content-disposition: form-data; name=model',
    'CONTENT-DISPOSITION:form-data;name="model"',
    'Content-Type: text/plain\r\nContent-Disposition: form-data; name="model"',
    'Content-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=utf-8',
    'Content-Disposition: form-data; filename="x"; name="model"',
    'Content-Disposition: form-data; name="model"; filename="x"',
  ]
  for (const head of heads) {
    test(`is read under ${JSON.stringify(head)}`, () => {
      assert.equal(modelIn(formOf(field('a', 'b'), part(head, 'm'))), 'm')
    })
  }

  const others = [
    'Content-Disposition: form-data; name="models"',
    'Content-Disposition: form-data; name="model',
    'Content-Disposition: form-data; name="file"; filename="model"',
    'Content-Disposition: attachment; name="model"',
    'X-Note: Content-Disposition: form-data; name="model"',
  ]
  for (const head of others) {
    test(`is not read under ${JSON.stringify(head)}`, () => {
      assert.equal(modelIn(formOf(part(head, 'm'))), null)
    })
  }

  test('is not read from within a file that looks like a form', () => {
    const inner = field('model', 'inner').replaceAll('--xyz', '--other')
    assert.equal(modelIn(formOf(field('file', inner), field('model', 'outer'))), 'outer')
    assert.equal(modelIn(formOf(field('file', inner))), null)
  })

  test('is the first of several', () => {
    assert.equal(modelIn(formOf(field('model', 'a'), field('model', 'b'))), 'a')
  })

  test('is found behind a preamble, and with a quoted boundary', () => {
    const body = Buffer.concat([Buffer.from('preamble\r\n'), formOf(field('model', 'm'))])
    assert.equal(modelIn(body, 'Multipart/Form-Data; charset=utf-8; Boundary="xyz"'), 'm')
  })

  test('is not guessed at without the boundary', () => {
    assert.equal(modelIn(formOf(field('model', 'm')), 'multipart/form-data'), null)
    assert.equal(modelIn(formOf(field('model', 'm')), 'multipart/form-data; boundary=zyx'), null)
  })

  test('is none where it is longer than any name, or cut off', () => {
    assert.equal(modelIn(formOf(field('model', 'm'.repeat(512)))), 'm'.repeat(512))
    assert.equal(modelIn(formOf(field('model', 'm'.repeat(513)))), null)
    const whole = formOf(field('model', 'm'))
    const end = whole.lastIndexOf('--xyz--') + '--xyz'.length
    for (let cut = 0; cut < end; cut++) assert.equal(modelIn(whole.subarray(0, cut)), null)
    assert.equal(modelIn(whole.subarray(0, end)), 'm')
  })
})

describe('a hostile form', () => {
  test('is searched no further than so many parts', () => {
    const parts = (count: number): string => field('a', 'b').repeat(count)
    assert.equal(modelIn(formOf(parts(formPartsMax - 1), field('model', 'm'))), 'm')
    assert.equal(modelIn(formOf(parts(formPartsMax), field('model', 'm'))), null)
  })

  for (const [what, line] of [
    ['names without end', 'name="model"'],
    ['parts without heads’ ends', '--xyz\r\nContent-Disposition: form-data; name="model"\r\n'],
    ['delimiters alone', '--xyz\r\n'],
  ] as const) {
    test(`of ${what} is given up after a bounded number of searches`, (t) => {
      const body = Buffer.from(line.repeat(2_000))
      const search = t.mock.method(body, 'indexOf')
      const searchBack = t.mock.method(body, 'lastIndexOf')
      assert.equal(modelIn(body), null)
      assert.ok(search.mock.callCount() + searchBack.mock.callCount() <= 1 + formPartsMax)
    })
  }
})

describe('the model of an urlencoded form', () => {
  const urlEncoded = 'application/x-www-form-urlencoded'

  test('is decoded, and has no place of its own in the body', () => {
    const found = modelOfForm(urlEncoded, Buffer.from('a=b&model=org%2Fm+1'))
    assert.deepEqual(found, { model: 'org/m 1', span: null })
  })

  test('is none where the form lacks it or is longer than is read', () => {
    assert.equal(modelIn(Buffer.from('models=m'), urlEncoded), null)
    const long = Buffer.from(`model=m&a=${'b'.repeat(65_536)}`)
    assert.equal(modelIn(long, urlEncoded), null)
  })
})
