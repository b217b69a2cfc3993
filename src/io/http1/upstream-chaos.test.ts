import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import type { ScriptedConnection } from '../../../test/support/scripted-server.ts'
import { type UpstreamStage, upstreamStage } from '../../../test/support/upstream-stage.ts'
import { type Random, randomInt, seededRandom } from '../../base/random.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Answers that name the path asked for, so that an answer to another request shows. */
const whole: readonly ((path: string) => string)[] = [
  (path) => `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`,
  (path) =>
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
    `${path.length.toString(16)}\r\n${path}\r\n0\r\nX-Path: ${path}\r\n\r\n`,
  (path) =>
    'HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n' +
    `HTTP/1.1 404 No\r\nContent-Length: ${path.length}\r\n\r\n${path}`,
  (path) => `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${path.length}\r\n\r\n${path}`,
  (path) =>
    `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=2\r\nContent-Length: ${path.length}\r\n\r\n${path}`,
]

/** Serves requests in all the ways that engines do, and some that only broken ones do. */
async function capricious(connection: ScriptedConnection, random: Random): Promise<void> {
  const { socket } = connection
  for (;;) {
    const request = await connection.request()
    const path = request.split(' ')[1]!
    const answer = whole[randomInt(random, whole.length)]!(path)
    const fate = random.next()
    if (fate < 0.05) socket.destroy()
    else if (fate < 0.1) socket.resetAndDestroy()
    else if (fate < 0.15) socket.end(answer.slice(0, randomInt(random, answer.length)))
    else if (fate < 0.18) socket.write(`${answer}surplus`)
    else if (fate < 0.2) socket.write('nonsense\r\n\r\n')
    else if (fate < 0.23) continue
    else if (fate < 0.28) socket.end(answer)
    else {
      for (let at = 0; at < answer.length; ) {
        const next = fate < 0.6 ? answer.length : at + 1 + randomInt(random, 40)
        socket.write(answer.slice(at, next))
        at = next
        if (at < answer.length) await turn()
      }
    }
  }
}

function startCall({ pool }: UpstreamStage, path: string, random: Random): RecordedCall {
  const timeouts = { firstByteTimeoutMs: 20_000, idleTimeoutMs: 10_000 }
  const kind = randomInt(random, 4)
  if (kind === 0) return new RecordedCall(pool, { path, ...timeouts })
  if (kind < 3) {
    const body = [Buffer.from('body of '), Buffer.alloc(randomInt(random, 40_000), 'x')]
    return new RecordedCall(pool, { method: 'POST', path, body, ...timeouts })
  }
  const body = { streamedLength: random.next() < 0.5 ? null : 8 }
  const call = new RecordedCall(pool, { method: 'POST', path, body, ...timeouts })
  call.call.write(Buffer.from('half'))
  void call.seen('drain').then(() => {
    call.call.write(Buffer.from('half'))
    call.call.endBody()
  })
  return call
}

async function meddle(call: RecordedCall, random: Random): Promise<'aborted' | 'left alone'> {
  const turns = randomInt(random, 12)
  for (let i = 0; i < turns; i++) {
    if (random.next() < 0.2) call.call.pause()
    await turn()
    call.call.resume()
  }
  if (random.next() < 0.8) return 'left alone'
  const told = call.told.length
  const over = isOver(call)
  call.call.abort()
  for (let i = 0; i < 5; i++) await turn()
  if (!over) assert.equal(call.told.length, told, 'told something after abort')
  return over ? 'left alone' : 'aborted'
}

const isOver = (call: RecordedCall): boolean =>
  call.told.includes('end') || call.told.includes('error')

function checkStory(call: RecordedCall, path: string): void {
  const story = call.told.filter((what) => what !== 'drain').join(' ')
  assert.match(story, /^(reused )?(connected )?(headers (body )*)?(end|error)$/)
  assert.ok(path.startsWith(call.text), `${path} was answered with ${call.text}`)
  if (call.told.includes('end')) assert.equal(call.text, path)
}

async function chaos(t: TestContext, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const stage = await upstreamStage(t, (connection) => capricious(connection, random))
  const { pool, clock } = stage
  const calls: { call: RecordedCall; path: string; fate: Promise<string> }[] = []
  for (let i = 0; i < 150; i++) {
    const path = `/request-${i}-${'p'.repeat(randomInt(random, 60))}`
    const call = startCall(stage, path, random)
    calls.push({ call, path, fate: meddle(call, random) })
    if (random.next() < 0.6) await turn()
    if (random.next() < 0.05) clock.advance(randomInt(random, 5_000))
  }
  for (const { call, path, fate } of calls) {
    if ((await fate) === 'aborted') continue
    for (let i = 0; i < 50 && !isOver(call); i++) await turn()
    // Those that the server forgot end by their timeout.
    if (!isOver(call)) clock.advance(20_000)
    await call.over()
    checkStory(call, path)
  }
  clock.advance(5_000)
  for (let i = 0; i < 200 && pool.stats.open > 0; i++) await turn()
  assert.deepEqual([pool.stats.open, pool.stats.idle, clock.pending], [0, 0, 0])
}

test('whatever the server does, each call ends once, with its own answer', async (t) => {
  const first = Math.floor(Math.random() * 1e9)
  for (let i = 0; i < 8; i++) {
    t.diagnostic(`seed ${first + i}`)
    await chaos(t, first + i)
  }
})
