import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'

export interface LineFileOptions {
  readonly path: string
  /** Bytes that may wait for the disk; lines beyond are dropped. */
  readonly queueBytesMax: number
  /** Told once per failure of the disk; lines are dropped until a later try succeeds. */
  readonly onError: (error: Error) => void
}

const reopenMs = 10_000

/**
 * Appends lines to a file without ever blocking or growing. `rotate` moves the file to `PATH.1`
 * (replacing an older one) and begins a new one, so the log takes twice its size at most.
 */
export class LineFile {
  readonly #options: LineFileOptions
  #stream: WriteStream
  #failedAtMs: number | null = null
  #fileBytes = 0

  constructor(options: LineFileOptions) {
    this.#options = options
    this.#stream = this.#open()
  }

  /** Size of the current file, with what is queued for it. */
  get fileBytes(): number {
    return this.#fileBytes
  }

  /** False when the line was dropped. */
  write(line: string): boolean {
    if (this.#failedAtMs !== null && !this.#reopen(this.#failedAtMs)) return false
    if (this.#stream.writableLength + line.length > this.#options.queueBytesMax) return false
    this.#stream.write(line)
    this.#fileBytes += line.length
    return true
  }

  rotate(): void {
    const { path } = this.#options
    // What is queued still goes to the old file: the stream keeps it open under its new name.
    this.#stream.end()
    try {
      renameSync(path, `${path}.1`)
    } catch (error) {
      this.#options.onError(error as Error)
    }
    this.#stream = this.#open()
  }

  /** Resolves once all that was queued is written or has failed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stream.closed) resolve()
      this.#stream.once('close', resolve)
      this.#stream.end()
    })
  }

  #open(): WriteStream {
    this.#fileBytes = statSync(this.#options.path, { throwIfNoEntry: false })?.size ?? 0
    const stream = createWriteStream(this.#options.path, { flags: 'a' })
    stream.on('error', (error) => {
      this.#options.onError(error)
      if (stream === this.#stream) this.#failedAtMs = performance.now()
    })
    return stream
  }

  #reopen(failedAtMs: number): boolean {
    if (performance.now() - failedAtMs < reopenMs) return false
    this.#failedAtMs = null
    this.#stream = this.#open()
    return true
  }
}
