import { readFileSync } from 'node:fs'

/** Files that people write by hand are small; a larger one is the wrong file. */
const fileBytesMax = 16_777_216

export type TextFile =
  | { readonly ok: true; readonly text: string }
  /** Why not, for an operator: `no such file`. */
  | { readonly ok: false; readonly reason: string }

/** Reads a small text file, such as a configuration, at start. */
export function readTextFile(path: string): TextFile {
  try {
    const bytes = readFileSync(path)
    if (bytes.length > fileBytesMax) return { ok: false, reason: 'larger than 16 MiB' }
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    return { ok: false, reason: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'not UTF-8 text'
  const code = (error as { code?: string }).code
  if (code === 'ENOENT') return 'no such file'
  if (code === 'EACCES') return 'not allowed to read it'
  if (code === 'EISDIR') return 'it is a directory'
  return error instanceof Error ? error.message : String(error)
}
