import { Socket, type SocketConstructorOpts } from 'node:net'

/** All reads of all connections go here, one after the other. */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

/** What Node keeps to itself of a socket. */
interface Internals {
  _handle?: object | null
  _server?: object | null
}

/** Told of each read; the bytes are good until it returns. */
export type OnBytes = (bytes: Buffer) => void

/**
 * A client's socket that reads without allocating. Node gives each read a new 64 KiB buffer; only
 * sockets made with `onread` share one, and a server's are not. So its handle moves over to such a
 * socket. Where this Node has no such handle, the socket stays as it is, and costs what it costs.
 */
export class ClientSocket {
  readonly socket: Socket
  /** Whether the reads share one buffer. */
  readonly shared: boolean
  #onBytes: OnBytes | null

  /** @param accepted paused since it was accepted (`pauseOnConnect`) */
  constructor(accepted: Socket, onBytes: OnBytes) {
    this.#onBytes = onBytes
    const internals = accepted as unknown as Internals
    const handle = internals._handle
    this.shared = handle !== null && handle !== undefined
    if (!this.shared) {
      this.socket = accepted
      accepted.on('data', this.#onData)
      accepted.resume()
      return
    }
    internals._handle = null
    const onread = { buffer: readBuffer, callback: this.#onRead }
    const options = { handle, allowHalfOpen: true, onread }
    this.socket = new Socket(options as SocketConstructorOpts)
    // The server counts its sockets by this, and is closed when all are.
    const moved = this.socket as unknown as Internals
    moved._server = internals._server ?? null
    internals._server = null
  }

  /** From now on the socket is a stream like any other, paused. */
  release(): Socket {
    this.#onBytes = null
    this.socket.pause()
    if (!this.shared) this.socket.off('data', this.#onData)
    return this.socket
  }

  readonly #onRead = (length: number): boolean => {
    const bytes = readBuffer.subarray(0, length)
    if (this.#onBytes === null) return this.socket.push(Buffer.from(bytes))
    this.#onBytes(bytes)
    return true
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#onBytes?.(bytes)
  }
}
