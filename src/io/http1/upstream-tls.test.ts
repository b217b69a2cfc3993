import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { ManualScheduler } from '../../../test/support/manual-scheduler.ts'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import { testCertificate, testKey } from '../../../test/support/tls-certificate.ts'
import type { UpstreamTlsOptions } from './upstream.ts'
import { UpstreamPool } from './upstream-pool.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

async function tlsStage(t: TestContext, tls: UpstreamTlsOptions, host = '127.0.0.1') {
  const sockets: TLSSocket[] = []
  const server = createServer({ key: testKey, cert: testCertificate, ALPNProtocols: ['http/1.1'] })
  server.on('secureConnection', (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => socket.write(ok))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = new UpstreamPool(`https://${host}:${port}`, { tls }, new ManualScheduler())
  t.after(() => {
    pool.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { pool, sockets }
}

for (const host of ['127.0.0.1', 'localhost']) {
  test(`speaks TLS to ${host}, and keeps the connection`, async (t) => {
    const { pool, sockets } = await tlsStage(t, { ca: testCertificate }, host)
    for (const first of ['connected', 'reused']) {
      const call = await new RecordedCall(pool, { method: 'POST', body: [Buffer.from('x')] }).over()
      assert.deepEqual([call.told[0], call.text], [first, 'ok'])
    }
    assert.equal(sockets.length, 1)
    assert.equal(sockets[0]!.alpnProtocol, 'http/1.1')
  })
}

test('refuses a certificate that nobody vouches for, before anything is sent', async (t) => {
  const { pool } = await tlsStage(t, {})
  const { failure } = await new RecordedCall(pool).over()
  assert.deepEqual([failure!.phase, failure!.cause, failure!.bytesSent], ['connect', 'tls', false])
  assert.match(failure!.detail, /self-signed/)
})

test('takes such a certificate where the operator says so', async (t) => {
  const { pool } = await tlsStage(t, { rejectUnauthorized: false })
  assert.equal((await new RecordedCall(pool).over()).text, 'ok')
})

test('F024: resends once when a reused TLS connection is closed on the request', async (t) => {
  const { pool, sockets } = await tlsStage(t, { ca: testCertificate })
  await new RecordedCall(pool).over()
  sockets[0]!.removeAllListeners('data').on('data', () => sockets[0]!.destroy())
  const call = await new RecordedCall(pool).over()
  assert.deepEqual(call.told, ['reused', 'connected', 'headers', 'body', 'end'])
})
