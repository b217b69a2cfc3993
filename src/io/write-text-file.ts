import { renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Writes a text file in one step: a reader sees the old one or the whole new one.
 * @returns null, or why not, for an operator: `no such folder`
 */
export function writeTextFile(path: string, text: string): string | null {
  const unfinished = `${path}.${process.pid}.new`
  try {
    writeFileSync(unfinished, text)
    renameSync(unfinished, path)
    return null
  } catch (error) {
    rmSync(unfinished, { force: true })
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return 'no such folder'
    if (code === 'EACCES' || code === 'EROFS') return 'not allowed to write there'
    if (code === 'EISDIR') return 'it is a directory'
    return message
  }
}
