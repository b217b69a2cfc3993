/** Compiles `text-scan.wat` into the module that holds it as text: `npm run build:wasm`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import initWabt from 'wabt'

const folder = join(import.meta.dirname, '../src/protocol/text-scan')
const target = join(folder, 'text-scan-wasm.ts')
const lineChars = 90

/** What `text-scan-wasm.ts` must hold. */
export async function renderTextScanWasm(): Promise<string> {
  const wabt = await initWabt()
  const source = readFileSync(join(folder, 'text-scan.wat'), 'utf8')
  const parsed = wabt.parseWat('text-scan.wat', source, { simd: true, bulk_memory: true })
  parsed.validate()
  const base64 = Buffer.from(parsed.toBinary({}).buffer).toString('base64')
  const lines = base64.match(new RegExp(`.{1,${lineChars}}`, 'g')) ?? []
  const quoted = lines.map((line, i) => `  '${line}'${i === lines.length - 1 ? '' : ' +'}`)
  const head = '/** Made of text-scan.wat; npm run build:wasm writes it. */'
  return `${head}\nexport const textScanWasm =\n${quoted.join('\n')}\n`
}

if (import.meta.main) writeFileSync(target, await renderTextScanWasm())
