import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** Unpacked, a recording is larger than what people write by hand, and still fits in memory. */
const textBytesMax = 536_870_912

/**
 * The lines of a small recording packed with gzip, without empty ones.
 * @throws the system's error when it cannot be read or unpacked
 */
export function readPackedLines(path: string): string[] {
  const text = gunzipSync(readFileSync(path), { maxOutputLength: textBytesMax }).toString('utf8')
  return text.split('\n').filter((line) => line !== '')
}
