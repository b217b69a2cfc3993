/** Writes the pages of `docs/reference` that are made from the code: `npm run docs`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { referencePages } from './reference/reference-pages.ts'

for (const [path, render] of Object.entries(referencePages)) {
  writeFileSync(join(import.meta.dirname, '..', path), render())
  process.stdout.write(`${path}\n`)
}
