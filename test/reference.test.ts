/** The reference is made from the code, and the code uses all that the reference promises. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { referencePages } from '../scripts/reference/reference-pages.ts'
import { errorCatalogue } from '../src/base/errors.ts'
import { namedOptions } from '../src/config/config.ts'
import type { TextFile } from './tidy/source-tree.ts'
import { isProduction, readRepository, repositoryRoot, walk } from './tidy/source-tree.ts'

const optionsMax = 60

for (const [path, render] of Object.entries(referencePages)) {
  test(`${path} is what the code says; npm run docs writes it`, () => {
    assert.equal(readFileSync(join(repositoryRoot, path), 'utf8'), render())
  })
}

test('every option is read somewhere, and there are few enough to know', () => {
  const read = new Set(productionOutside('src/config/').flatMap(readNames))
  const unread = namedOptions.map(({ name }) => name).filter((name) => !read.has(name))
  assert.deepEqual(unread, [])
  assert.ok(namedOptions.length <= optionsMax, `${namedOptions.length} options`)
})

test('every code of the error catalogue is answered somewhere', () => {
  const texts = productionOutside('src/base/errors.ts').map(({ text }) => text)
  const unused = Object.keys(errorCatalogue).filter(
    (code) => !texts.some((text) => text.includes(`'${code}'`)),
  )
  assert.deepEqual(unused, [])
})

function productionOutside(prefix: string): TextFile[] {
  return readRepository().filter((file) => isProduction(file) && !file.path.startsWith(prefix))
}

/** Names read as a member (`config.port`) or taken out of an object (`const { port } = config`). */
function readNames(file: TextFile): string[] {
  const names: string[] = []
  walk(file, (node, ancestors) => {
    if (node.type === 'MemberExpression' && node.property.type === 'Identifier') {
      names.push(node.property.name)
    }
    if (node.type === 'Property' && ancestors.at(-1)?.type === 'ObjectPattern') {
      if (node.key.type === 'Identifier') names.push(node.key.name)
    }
  })
  return names
}
