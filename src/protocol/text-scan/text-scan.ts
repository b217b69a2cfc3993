/** The compiled scanner and its memory, whose parts are given out once. */
import { textScanWasm } from './text-scan-wasm.ts'

interface TextScan {
  readonly memory: { readonly buffer: ArrayBuffer }
  setAside(
    src: number,
    end: number,
    out: number,
    spans: number,
    spansEnd: number,
    longBytes: number,
  ): number
  hash(at: number, blocks: number, state: number, low: number, high: number, room: number): void
}

/** The part of the global that is used; its types come with a browser's library only. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (compiled: object) => { readonly exports: unknown }
}

const compiled = new WebAssembly.Module(Buffer.from(textScanWasm, 'base64'))
export const textScan = new WebAssembly.Instance(compiled).exports as TextScan

/** All of the scanner's memory; it never grows, so this view never goes stale. */
export const scanMemory: Buffer = Buffer.from(textScan.memory.buffer)
export const scanWords = new Uint32Array(textScan.memory.buffer)

/** The scanner reads, and writes, up to so many bytes beyond the end of what it is given. */
const slackBytes = 64
const alignment = 64

let given = alignment

/** A part of the memory: its first address. Throws where all is given. */
export function reserveScanMemory(bytes: number): number {
  const at = given
  given += Math.ceil((bytes + slackBytes) / alignment) * alignment
  if (given > scanMemory.length) throw new RangeError('the memory in text-scan.wat is too small')
  return at
}
