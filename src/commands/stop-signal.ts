/** The exit status of a process that a signal ended: 128 and the signal's number. */
const killedBySignal = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Aborted by the first SIGTERM or SIGINT. A second one ends the process at once: whoever sends it
 * has waited long enough.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  const onSignal = (signal: keyof typeof killedBySignal): void => {
    if (stop.signal.aborted) process.exit(killedBySignal[signal])
    stop.abort()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return stop.signal
}
