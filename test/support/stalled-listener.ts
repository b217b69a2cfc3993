/** A port where connecting takes for ever: somebody listens, and never accepts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'

// The kernel accepts for a process that does not, up to the length of its queue.
const program = `
require('node:net').createServer().listen({ port: +process.argv[1], host: '127.0.0.1', backlog: 1 },
  () => process.send('listening', () =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)))
`
/** More connections than the queue takes. */
const queuedMax = 8

export async function stalledListener(t: TestContext, port: number): Promise<void> {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
  const child = spawn(process.execPath, ['-e', program, String(port)], { stdio: [...stdio] })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'message')
  const sockets = Array.from({ length: queuedMax }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => {})
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  // The queue takes the first ones; whoever comes behind them waits.
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, 'connect')))
}
