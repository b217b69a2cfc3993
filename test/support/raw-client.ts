import { connect, type Socket } from 'node:net'

/** A client that sends bytes as told and keeps what comes back, as latin1 text. */
export class RawClient {
  readonly socket: Socket
  received = ''
  /** How the connection ended: `end` in good order, `reset` otherwise; null while it lasts. */
  ended: 'end' | 'reset' | null = null
  readonly #waiting = new Set<() => void>()

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    this.socket.on('data', (data: Buffer) => {
      this.received += data.toString('latin1')
      this.#wake()
    })
    this.socket.on('end', () => {
      this.ended ??= 'end'
      this.#wake()
    })
    this.socket.on('error', () => {
      this.ended ??= 'reset'
      this.#wake()
    })
    this.socket.on('close', () => {
      this.ended ??= 'reset'
      this.#wake()
    })
  }

  send(text: string | Buffer): this {
    this.socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
    return this
  }

  /** When `text` has come. Rejects when the connection ends before. */
  async until(text: string): Promise<string> {
    for (;;) {
      if (this.received.includes(text)) return this.received
      if (this.ended !== null) {
        throw new Error(`ended (${this.ended}) without ${text}: ${this.received}`)
      }
      await this.#change()
    }
  }

  /** When the connection has ended: how, and all that came. */
  async over(): Promise<{ readonly how: 'end' | 'reset'; readonly text: string }> {
    while (this.ended === null) await this.#change()
    return { how: this.ended, text: this.received }
  }

  /** What came so far; from here on only what comes later counts. */
  take(): string {
    const text = this.received
    this.received = ''
    return text
  }

  close(): void {
    this.socket.destroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
