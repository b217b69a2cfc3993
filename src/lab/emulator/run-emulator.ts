import { type EmulatorOptions, startEmulator } from './start-emulator.ts'

export interface RunEmulatorOptions extends Omit<EmulatorOptions, 'ports'> {
  /** Port of the first replica; the others take those behind it. 0 takes any free ones. */
  readonly port: number
  /** Ends the run. */
  readonly signal: AbortSignal
  /** Takes the URL of each replica. */
  readonly print: (line: string) => void
}

/** `warmpath emulate`: serves a fleet of emulated engines until the signal comes. */
export async function runEmulator(options: RunEmulatorOptions): Promise<void> {
  const { port, signal, print, ...rest } = options
  const count = options.replicas ?? 1
  const ports = Array.from({ length: count }, (_, i) => (port === 0 ? 0 : port + i))
  const emulator = await startEmulator({ ...rest, ports })
  for (const url of emulator.urls) print(url)
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  await emulator.close()
}
