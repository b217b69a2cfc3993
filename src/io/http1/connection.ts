import {
  connect as connectTcp,
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
} from 'node:net'
import { connect as connectTls, type ConnectionOptions as TlsConnectionOptions } from 'node:tls'
import { causeOfError, describeError } from './failure.ts'
import { http1Limits } from './limits.ts'
import type { Origin } from './origin.ts'
import { ResponseParser } from './response-parser.ts'
import type { UpstreamFailureCause, UpstreamRequest, UpstreamTlsOptions } from './upstream.ts'

export interface ConnectionOptions {
  readonly origin: Origin
  readonly headBytesMax: number
  readonly tls: UpstreamTlsOptions | undefined
  readonly lookup: LookupFunction
}

/** The pool, as its connections see it. */
export interface ConnectionOwner {
  /** Given up before it was connected. */
  notConnected(): void
  /** The server ended a resting connection. */
  idleClosed(connection: Connection): void
  /** The socket is gone, for whatever reason; told once. */
  socketClosed(connection: Connection): void
}

/** The exchange that a connection serves, as the connection sees it. */
export interface ConnectionUser {
  readonly request: UpstreamRequest
  connectedTo(connection: Connection): void
  /** The parser has something new. */
  bytesArrived(): void
  drained(): void
  failed(cause: UpstreamFailureCause, detail: string): void
}

/**
 * All plain sockets read into this one buffer, and what comes is copied out: cheaper than a fresh
 * 64 KB for each read, which is what a socket does by itself.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536)

/** One socket: it serves one exchange at a time, or rests in the pool. */
export class Connection {
  /** Whether it has served an exchange before the present one. */
  reused = false
  /** While it rests: since when, and when it must be closed. */
  restSinceMs = 0
  restUntilMs = 0
  readonly parser: ResponseParser
  readonly socket: Socket
  readonly #owner: ConnectionOwner
  readonly #secure: boolean
  #exchange: ConnectionUser | null
  #connected = false
  #detached = false

  /** Connects at once; the exchange is told when that is done or has failed. */
  constructor(options: ConnectionOptions, owner: ConnectionOwner, exchange: ConnectionUser) {
    this.#owner = owner
    this.#secure = options.origin.secure
    this.#exchange = exchange
    this.parser = new ResponseParser(options.headBytesMax)
    if (this.#secure || exchange.request.upgrade !== undefined) {
      this.socket = openEmitting(options)
      this.socket.on('data', this.#onData)
    } else {
      this.socket = openReading(options, this.#onRead)
    }
    this.socket.setNoDelay(true)
    this.socket.setKeepAlive(true, http1Limits.tcpKeepAliveMs)
    this.socket.on(this.#secure ? 'secureConnect' : 'connect', this.#onConnect)
    this.socket.on('drain', this.#onDrain)
    this.socket.on('end', this.#onEnd)
    this.socket.on('error', this.#onError)
    this.socket.on('close', this.#onClose)
  }

  get usable(): boolean {
    return this.#connected && !this.socket.destroyed && this.socket.writable
  }

  /** Takes a resting connection into use. */
  assign(exchange: ConnectionUser): void {
    this.reused = true
    this.#exchange = exchange
  }

  /** The exchange is over; what the socket says from now on is not for it. */
  release(): void {
    this.#exchange = null
    this.parser.stop()
    // Resting sockets are read, so that the server's close is seen.
    if (this.socket.isPaused()) this.socket.resume()
  }

  destroy(): void {
    this.#exchange = null
    this.parser.stop()
    if (!this.#connected) this.#owner.notConnected()
    this.socket.destroy()
  }

  /** Gives the socket away after an upgrade. The owner still hears of its end. */
  detach(): Socket {
    this.#detached = true
    this.#exchange = null
    this.socket.pause()
    this.socket.off('data', this.#onData)
    this.socket.off('drain', this.#onDrain)
    this.socket.off('end', this.#onEnd)
    return this.socket
  }

  readonly #onConnect = (): void => {
    this.#connected = true
    this.#exchange?.connectedTo(this)
  }

  readonly #onRead = (length: number): boolean => {
    const data = Buffer.allocUnsafe(length)
    readBuffer.copy(data, 0, 0, length)
    this.#onData(data)
    return true
  }

  readonly #onData = (buffer: Buffer): void => {
    if (this.#exchange === null) {
      // Nothing was asked, so nothing can be said: a late 408, or a response too many.
      this.#closeIdle()
      return
    }
    this.#exchange.bytesArrived()
    this.parser.read(buffer)
  }

  readonly #onDrain = (): void => {
    this.#exchange?.drained()
  }

  readonly #onEnd = (): void => {
    const exchange = this.#exchange
    if (exchange === null) {
      this.#closeIdle()
      return
    }
    if (this.parser.finish()) return
    this.destroy()
    exchange.failed('closed', 'the server closed the connection')
  }

  readonly #onError = (error: Error): void => {
    const exchange = this.#exchange
    if (exchange === null) {
      if (!this.#detached) this.#closeIdle()
      return
    }
    this.destroy()
    const cause = causeOfError(error, !this.#connected, this.#secure)
    exchange.failed(cause, describeError(error))
  }

  readonly #onClose = (): void => {
    const exchange = this.#exchange
    this.destroy()
    this.#owner.socketClosed(this)
    exchange?.failed('closed', 'the connection was closed')
  }

  #closeIdle(): void {
    this.destroy()
    this.#owner.idleClosed(this)
  }
}

// Half-open is allowed so that the server's FIN does not end a request still being written.

function openReading(options: ConnectionOptions, callback: OnReadOpts['callback']): Socket {
  const { origin, lookup } = options
  const { host, port } = origin
  const onread = { buffer: readBuffer, callback }
  return connectTcp({ host, port, lookup, allowHalfOpen: true, onread })
}

/** A socket that emits its data: one over TLS, and one that may be given away. */
function openEmitting({ origin, tls, lookup }: ConnectionOptions): Socket {
  const { host, port } = origin
  if (!origin.secure) return connectTcp({ host, port, lookup, allowHalfOpen: true })
  const options: TlsConnectionOptions = { ...tls, host, port, lookup, ALPNProtocols: ['http/1.1'] }
  if (options.servername === undefined && isIP(host) === 0) options.servername = host
  return connectTls(Object.assign(options, { allowHalfOpen: true }))
}
