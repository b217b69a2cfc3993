import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { LoadedConfig } from '../config/load-config.ts'
import { realTimeScheduler } from '../io/real-time.ts'
import { watchFile } from '../io/watch-file.ts'
import { configPath, readConfig } from './config-flags.ts'

/**
 * Reads the configuration file again whenever it changes, and on SIGHUP. Without a file there is
 * nothing to read, and SIGHUP ends the process as it ends any other.
 * @returns ends the watching; the signal is heeded to the end
 */
export function reloadWhenChanged(
  command: Command,
  urls: readonly string[],
  gateway: { reload(loaded: LoadedConfig): void },
): () => void {
  const path = configPath(command)
  if (!path) return () => {}
  let last: LoadedConfig | null = null
  const read = (asked: boolean): void => {
    const loaded = withEndpoints(readConfig(command, urls), path)
    // A signal has already told, or the file was only touched.
    if (!asked && isDeepStrictEqual(loaded, last)) return
    last = loaded
    gateway.reload(loaded)
  }
  const endWatch = watchFile(path, realTimeScheduler(), () => read(false))
  process.on('SIGHUP', () => read(true))
  return endWatch
}

/** A file without endpoints is a mistake, not the wish to serve nobody. */
function withEndpoints(loaded: LoadedConfig, path: string): LoadedConfig {
  if (!loaded.ok || loaded.config.endpoints.length > 0) return loaded
  const message = 'names no engine, so the present ones stay; name at least one'
  return {
    ok: false,
    problems: [{ source: 'file', where: path, key: 'endpoints', message }],
  }
}
