/** A worker that answers on a raw socket, so that the clients measured are what is slow. */
import { createServer, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { eventsPerStream } = workerData as { eventsPerStream: number }

const json = JSON.stringify({
  id: 'chatcmpl-1',
  choices: [{ message: { content: 'x'.repeat(900) } }],
})
const plain = Buffer.from(
  'HTTP/1.1 200 OK\r\ndate: Tue, 01 Dec 2026 00:00:00 GMT\r\nserver: uvicorn\r\n' +
    `content-length: ${json.length}\r\ncontent-type: application/json\r\n\r\n${json}`,
)
const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ndate: Tue, 01 Dec 2026 00:00:00 GMT\r\nserver: uvicorn\r\n' +
    'content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
)
const delta = { choices: [{ index: 0, delta: { content: ' token' }, finish_reason: null }] }
const event = `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'm', ...delta })}\n\n`
const chunk = Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`)
const last = Buffer.from('0\r\n\r\n')

/** One write an event and turn, as an engine's step gives one token. */
function stream(socket: Socket): void {
  let left = eventsPerStream
  const step = (): void => {
    if (socket.destroyed) return
    if (left-- > 0) {
      socket.write(chunk)
      setImmediate(step)
    } else {
      socket.write(last)
    }
  }
  socket.write(streamHead)
  setImmediate(step)
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = ''
  socket.on('error', () => {})
  socket.on('data', (data: Buffer) => {
    pending += data.toString('latin1')
    for (;;) {
      const headEnd = pending.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const length = Number(/content-length: *(\d+)/i.exec(pending)?.[1] ?? 0)
      if (pending.length < headEnd + 4 + length) return
      const streaming = pending.startsWith('POST /stream')
      pending = pending.slice(headEnd + 4 + length)
      if (streaming) stream(socket)
      else socket.write(plain)
    }
  })
})
server.listen(0, '127.0.0.1', () => {
  parentPort!.postMessage((server.address() as { port: number }).port)
})
