import type { Socket } from 'node:net'
import { http1Limits } from './limits.ts'
import type { UpstreamRequest } from './upstream.ts'

const lineEnd = Buffer.from('\r\n', 'latin1')
const lastChunk = Buffer.from('0\r\n\r\n', 'latin1')

/** Writes one request: its head, and its body whole or piece by piece. */
export class BodyWriter {
  /** Why the body given differs from the body announced. */
  fault: string | null = null
  readonly #head: string
  readonly #pieces: readonly Buffer[] | null
  /** Streamed: bytes announced, -1 for unknown; null for a body that is whole, or none. */
  readonly #streamedLength: number | null
  #socket: Socket | null = null
  /** Given before there was a socket. */
  #early: Buffer[] = []
  #given = 0
  #ended = false

  constructor(request: UpstreamRequest, head: string) {
    this.#head = head
    const { body } = request
    const streamed = body !== null && 'streamedLength' in body
    this.#streamedLength = streamed ? (body.streamedLength ?? -1) : null
    this.#pieces = streamed ? null : body
  }

  get streamed(): boolean {
    return this.#streamedLength !== null
  }

  /** Whether the request can be written once more from its beginning. */
  get mayRestart(): boolean {
    return this.#streamedLength === null || (this.#given === 0 && !this.#ended)
  }

  /** Forgets the socket; the next one gets the request from its beginning. */
  restart(): void {
    this.#socket = null
  }

  /** Whether all of the request has left for the kernel. */
  isDone(socket: Socket): boolean {
    return (this.#streamedLength === null || this.#ended) && socket.writableLength === 0
  }

  begin(socket: Socket): void {
    this.#socket = socket
    if (this.#pieces === null || this.#pieces.length === 0) {
      socket.write(this.#head, 'latin1')
      this.#flushEarly()
      return
    }
    writeWhole(socket, this.#head, this.#pieces)
  }

  /** False: wait for the socket to connect or drain. */
  write(piece: Buffer): boolean {
    if (this.#streamedLength === null || this.#ended) {
      this.fault = 'body piece without a streamed body'
      return true
    }
    this.#given += piece.length
    if (this.#streamedLength >= 0 && this.#given > this.#streamedLength) {
      this.fault = 'body longer than its Content-Length'
      return true
    }
    if (piece.length === 0) return true
    if (this.#socket === null) {
      this.#early.push(piece)
      return false
    }
    return this.#writePiece(this.#socket, piece)
  }

  end(): void {
    if (this.#streamedLength === null || this.#ended) return
    this.#ended = true
    if (this.#streamedLength >= 0 && this.#given < this.#streamedLength) {
      this.fault = 'body shorter than its Content-Length'
      return
    }
    if (this.#socket !== null && this.#streamedLength < 0) this.#socket.write(lastChunk)
  }

  #flushEarly(): void {
    const pieces = this.#early
    this.#early = []
    for (const piece of pieces) this.#writePiece(this.#socket!, piece)
    if (this.#ended && this.#streamedLength === -1) this.#socket!.write(lastChunk)
  }

  #writePiece(socket: Socket, piece: Buffer): boolean {
    if (this.#streamedLength! >= 0) return socket.write(piece)
    socket.cork()
    socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
    socket.write(piece)
    const room = socket.write(lineEnd)
    socket.uncork()
    return room
  }
}

function writeWhole(socket: Socket, head: string, pieces: readonly Buffer[]): void {
  let bytes = head.length
  for (const piece of pieces) bytes += piece.length
  if (bytes <= http1Limits.oneWriteBytesMax) {
    // One small copy costs less than a vectored write.
    const whole = Buffer.allocUnsafe(bytes)
    let at = whole.write(head, 0, 'latin1')
    for (const piece of pieces) at += piece.copy(whole, at)
    socket.write(whole)
    return
  }
  socket.cork()
  socket.write(head, 'latin1')
  for (const piece of pieces) socket.write(piece)
  socket.uncork()
}
