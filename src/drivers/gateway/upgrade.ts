/** Carries an upgraded connection (a realtime WebSocket) to the engine chosen at its handshake. */
import type { Duplex } from 'node:stream'
import type { EndpointKey } from '../../core/events.ts'
import { tunnel } from '../../io/http1/tunnel.ts'
import type { UpstreamFailure } from '../../io/http1/upstream.ts'
import type { UpstreamPool } from '../../io/http1/upstream-pool.ts'
import type { RequestHead } from '../../io/http1-server/read-request-head.ts'
import { renderErrorBody } from '../../protocol/error-body.ts'

export type UpgradeChoice =
  | {
      readonly endpoint: EndpointKey
      readonly pool: UpstreamPool
      /** Called once, when the connection is over. */
      done(outcome: 'done' | 'failed'): void
    }
  | { readonly status: number; readonly message: string }

export interface UpgradeDependencies {
  choose(model: string | null): UpgradeChoice
  headersFor(headers: readonly string[]): readonly string[]
  /** Open upgraded connections: what a drain still waits for, and closes at its end. */
  readonly tracked: Set<Duplex>
}

/** The engine's answer to the handshake may take this long. */
const handshakeTimeoutMs = 30_000

export function handleUpgrade(
  request: RequestHead,
  socket: Duplex,
  head: Buffer,
  dependencies: UpgradeDependencies,
): void {
  socket.on('error', () => socket.destroy())
  const model = new URL(request.target, 'http://router').searchParams.get('model')
  const choice = dependencies.choose(model)
  if ('status' in choice) {
    answer(socket, choice.status, choice.message)
    return
  }
  let over = false
  const finish = (outcome: 'done' | 'failed'): void => {
    if (over) return
    over = true
    dependencies.tracked.delete(socket)
    choice.done(outcome)
  }
  dependencies.tracked.add(socket)
  const call = choice.pool.send(
    {
      method: request.method,
      path: request.target,
      headers: dependencies.headersFor(request.headers),
      body: null,
      upgrade: request.upgrade ?? 'websocket',
      firstByteTimeoutMs: handshakeTimeoutMs,
    },
    {
      connected() {},
      headers(status, headers, reason) {
        socket.write(headText(status, reason, headers))
      },
      body(payload) {
        for (const piece of payload) socket.write(piece)
      },
      end() {
        socket.end()
        finish('done')
      },
      error(failure: UpstreamFailure) {
        answer(socket, 502, `The engine refused the connection (${failure.cause}).`)
        finish('failed')
      },
      upgrade(engine, engineHead, headers) {
        socket.write(headText(101, 'Switching Protocols', headers, request.upgrade ?? 'websocket'))
        if (engineHead.length > 0) socket.write(engineHead)
        if (head.length > 0) engine.write(head)
        tunnel(socket, engine, (inGoodOrder) => finish(inGoodOrder ? 'done' : 'failed'))
      },
    },
  )
  socket.on('close', () => {
    call.abort()
    finish('done')
  })
}

function headText(
  status: number,
  reason: string,
  headers: readonly string[],
  upgrade?: string,
): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase()
    // The body is relayed decoded and ends with the connection.
    if (name === 'connection' || name === 'upgrade' || name === 'transfer-encoding') continue
    text += `${headers[i]}: ${headers[i + 1]}\r\n`
  }
  text +=
    upgrade === undefined
      ? 'connection: close\r\n'
      : `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`
  return `${text}\r\n`
}

function answer(socket: Duplex, status: number, message: string): void {
  if (!socket.writable) return
  const code = status === 404 ? 'model_not_found' : 'no_endpoint'
  const body = renderErrorBody('other', code, message, null)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
