import { stat } from 'node:fs/promises'
import type { Scheduler } from '../base/scheduler.ts'

/** How often the file is looked at. */
const lookEveryMs = 1_000

/**
 * Calls `changed` when what lies at the path is another file than before, or was written to, once
 * it is the same for two looks: it may be half written. Looking again and again also finds files
 * that are swapped behind symbolic links, as Kubernetes does, or that lie on another machine. A
 * file that is missing is no news.
 * @returns ends it
 */
export function watchFile(path: string, scheduler: Scheduler, changed: () => void): () => void {
  let stopped = false
  let cancel = (): void => {}
  let told: string | null = null
  let seen: string | null = null
  const look = async (): Promise<void> => {
    const now = await versionOf(path)
    if (stopped) return
    if (now !== null && now !== told && now === seen) {
      told = now
      changed()
    }
    seen = now
    cancel = scheduler.at(scheduler.nowMs() + lookEveryMs, look)
  }
  const begin = async (): Promise<void> => {
    told = await versionOf(path)
    await look()
  }
  void begin()
  return () => {
    stopped = true
    cancel()
  }
}

/** Null where there is no file to be seen. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { ino, size, mtimeMs } = await stat(path)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}
