import { closeSync, openSync, readSync } from 'node:fs'

const chunkBytes = 1_048_576
/** A longer line is no line of ours, and would fill the memory. */
const lineBytesMax = 64 * 1_048_576

/**
 * The lines of a file, one after the other, without their ends; `-` is the standard input. A file
 * of any size takes the memory of its longest line.
 * @throws the system's error when it cannot be read; RangeError for a line beyond 64 MiB
 */
export function* readLines(path: string): Generator<string> {
  const file = path === '-' ? 0 : openSync(path, 'r')
  try {
    yield* linesOf(file, path)
  } finally {
    if (file !== 0) closeSync(file)
  }
}

function* linesOf(file: number, path: string): Generator<string> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let rest: Buffer[] = []
  let restBytes = 0
  for (;;) {
    const read = readSync(file, chunk, 0, chunkBytes, null)
    if (read === 0) break
    let start = 0
    for (;;) {
      const end = chunk.indexOf(0x0a, start)
      if (end < 0 || end >= read) break
      if (restBytes === 0) yield textOf(chunk, start, end)
      else {
        const line = Buffer.concat([...rest, chunk.subarray(start, end)])
        rest = []
        restBytes = 0
        yield textOf(line, 0, line.length)
      }
      start = end + 1
    }
    if (start === read) continue
    rest.push(Buffer.from(chunk.subarray(start, read)))
    restBytes += read - start
    if (restBytes > lineBytesMax) throw new RangeError(`${path} has a line beyond 64 MiB`)
  }
  if (restBytes > 0) {
    const line = Buffer.concat(rest)
    yield textOf(line, 0, line.length)
  }
}

function textOf(bytes: Buffer, start: number, end: number): string {
  const to = end > start && bytes[end - 1] === 0x0d ? end - 1 : end
  return bytes.toString('utf8', start, to)
}
