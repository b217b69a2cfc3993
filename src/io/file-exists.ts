import { existsSync } from 'node:fs'

/** Whether there is such a file, or folder. */
export function fileExists(path: string): boolean {
  return existsSync(path)
}
