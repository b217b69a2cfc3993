import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** One connection that the server accepted; its own bytes are read, and kept as latin1 text. */
export class ScriptedConnection {
  readonly socket: Socket
  /** 0 for the first one accepted. */
  readonly number: number
  /** All that came so far. */
  received = ''
  readonly #waiting = new Set<() => void>()

  constructor(socket: Socket, number: number) {
    this.socket = socket
    this.number = number
    socket.setNoDelay(true)
    socket.on('data', (data: Buffer) => {
      this.received += data.toString('latin1')
      for (const check of [...this.#waiting]) check()
    })
    socket.on('error', () => {})
  }

  /** When a whole request (by Content-Length, or chunked) came after those already taken. */
  async request(): Promise<string> {
    for (;;) {
      const end = requestEnd(this.received)
      if (end >= 0) {
        const text = this.received.slice(0, end)
        this.received = this.received.slice(end)
        return text
      }
      await new Promise<void>((resolve) => {
        const check = (): void => {
          this.#waiting.delete(check)
          resolve()
        }
        this.#waiting.add(check)
      })
    }
  }

  /** Answers one request; the text is latin1. */
  async answer(text: string): Promise<void> {
    await this.request()
    this.socket.write(text, 'latin1')
  }

  /** When the peer is gone. */
  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close')
  }
}

/** A raw TCP server on an ephemeral port, so that a test decides about every byte. */
export class ScriptedServer {
  readonly connections: ScriptedConnection[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(script: (connection: ScriptedConnection) => unknown): Promise<ScriptedServer> {
    const server = createServer({ allowHalfOpen: true })
    const scripted = new ScriptedServer(server)
    server.on('connection', (socket) => {
      const connection = new ScriptedConnection(socket, scripted.connections.length)
      scripted.connections.push(connection)
      socket.on('end', () => socket.end())
      void script(connection)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return scripted
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async stop(): Promise<void> {
    for (const connection of this.connections) connection.socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function requestEnd(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return -1
  const head = text.slice(0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  let end = headEnd + 4 + Number(length ?? 0)
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const last = text.indexOf('0\r\n\r\n', headEnd + 4)
    if (last < 0) return -1
    end = last + 5
  }
  return text.length >= end ? end : -1
}
