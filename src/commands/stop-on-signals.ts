/** The exit status of a process that a signal ended: 128 and the signal's number. */
const killedBySignal = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Waits for SIGTERM or SIGINT, then for `stop`. A second signal ends the process at once: whoever
 * sends it has waited long enough.
 */
export async function stopOnSignals(stop: () => Promise<void>): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<void>()
  let stopping = false
  const onSignal = (signal: keyof typeof killedBySignal): void => {
    if (stopping) process.exit(killedBySignal[signal])
    stopping = true
    resolve()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  await signalled
  await stop()
  process.off('SIGTERM', onSignal)
  process.off('SIGINT', onSignal)
}
