import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { RecordedCall } from '../../../test/support/recorded-call.ts'
import { upstreamStage } from '../../../test/support/upstream-stage.ts'
import type { UpstreamPool } from './upstream-pool.ts'

interface Outcome {
  whole: boolean
  status: number
  reason: string
  headers: readonly string[]
  body: string
  trailers: readonly string[]
}

const refused: Outcome = {
  status: 0,
  reason: '',
  headers: [],
  body: '',
  trailers: [],
  whole: false,
}

async function ours(pool: UpstreamPool, method: string): Promise<Outcome | { whole: false }> {
  const call = await new RecordedCall(pool, { method }).over()
  const { status, reason, flat: headers, text: body, trailers, failure } = call
  if (failure !== null) return refused
  return { status, reason, headers, body, trailers: trailers!, whole: true }
}

function nodes(origin: string, method: string): Promise<Outcome | { whole: false }> {
  return new Promise((resolve) => {
    const sent = request(origin, { method, agent: false }, (message: IncomingMessage) => {
      let body = ''
      message.setEncoding('latin1')
      message.on('data', (text: string) => {
        body += text
      })
      message.on('error', () => {})
      message.on('close', () => {
        if (!message.complete) resolve(refused)
        resolve({
          status: message.statusCode!,
          reason: message.statusMessage!,
          headers: message.rawHeaders,
          body,
          trailers: message.rawTrailers,
          whole: true,
        })
      })
    })
    sent.on('error', () => resolve(refused))
    sent.end()
  })
}

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`

/** Real and nasty answers that both clients must take, or refuse, alike. */
const answers: Record<string, string> = {
  'uvicorn, SSE':
    `${ok}date: Tue, 01 Dec 2026 00:00:00 GMT\r\nserver: uvicorn\r\n` +
    'content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n' +
    '12\r\ndata: {"a":"\xc3\xa9"}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n',
  'uvicorn, JSON':
    `${ok}date: x\r\nserver: uvicorn\r\ncontent-length: 2\r\n` +
    'content-type: application/json\r\n\r\n{}',
  'llama.cpp, error':
    'HTTP/1.1 400 Bad Request\r\nServer: llama.cpp\r\nConnection: close\r\n' +
    'Content-Length: 3\r\n\r\nerr',
  'python http.server': 'HTTP/1.0 200 OK\r\nServer: SimpleHTTP\r\n\r\nuntil close',
  'nginx, HTML': 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\nETag: "a"\r\n\r\n<html>',
  'capital coding': `${ok}Transfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  'blanks around values': `${ok}A:\t b \t\r\nContent-Length:  1  \r\n\r\n!`,
  'empty values': `${ok}A:\r\nB: \r\nContent-Length: 0\r\n\r\n`,
  'repeated names': `${ok}Set-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 0\r\n\r\n`,
  'no reason': 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
  'an empty reason': 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n',
  'status 599': 'HTTP/1.1 599 X\r\nContent-Length: 0\r\n\r\n',
  'status 999': 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n',
  'leading zeros in sizes': `${chunked}0001\r\na\r\n0000\r\n\r\n`,
  'capital sizes': `${chunked}A\r\n0123456789\r\n0\r\n\r\n`,
  'chunk extensions': `${chunked}1;a\r\nx\r\n1;a=b;c="d e"\r\ny\r\n0;z\r\n\r\n`,
  trailers: `${chunked}1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n`,
  'interim answers':
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nLink: a\r\n\r\n' +
    `${ok}Content-Length: 1\r\n\r\n!`,
  '204 with bytes': 'HTTP/1.1 204 No Content\r\n\r\n',
  '304 with a length': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',
  'half a body': `${ok}Content-Length: 9\r\n\r\nhalf`,
  'half a chunk': `${chunked}9\r\nhalf`,
  'no last chunk': `${chunked}4\r\nhalf\r\n`,
  'half a head': 'HTTP/1.1 200 OK\r\nA: b',
  nothing: '',
  'both framings': `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'two different lengths': `${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n!`,
  'a negative length': `${ok}Content-Length: -1\r\n\r\n`,
  'a length with a plus': `${ok}Content-Length: +1\r\n\r\n!`,
  'a length of 2^64': `${ok}Content-Length: 18446744073709551616\r\n\r\n!`,
  'a bad size': `${chunked}g\r\n`,
  'a negative size': `${chunked}-1\r\na\r\n0\r\n\r\n`,
  'a size with 0x': `${chunked}0x1\r\na\r\n0\r\n\r\n`,
  'a size of 2^64': `${chunked}10000000000000000\r\na`,
  'NUL in a value': `${ok}A: \0\r\nContent-Length: 0\r\n\r\n`,
  'NUL in a name': `${ok}A\0: b\r\nContent-Length: 0\r\n\r\n`,
  'a blank before the colon': `${ok}A : b\r\nContent-Length: 0\r\n\r\n`,
  'a bare CR in a value': `${ok}A: b\rC: d\r\nContent-Length: 0\r\n\r\n`,
  'a line without colon': `${ok}abc\r\nContent-Length: 0\r\n\r\n`,
  'not HTTP': 'SSH-2.0-OpenSSH_9\r\n',
  'a folded header line': `${ok}A: b\r\n c\r\nContent-Length: 0\r\n\r\n`,
  'HTTP/3.0': 'HTTP/3.0 200 OK\r\n\r\n',
}

/** What node:http bears and we do not, because two readers could take it differently. */
const stricter: Record<string, string> = {
  'another transfer coding': `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'chunks in HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'the unknown HTTP/0.9': 'HTTP/0.9 200 OK\r\n\r\n',
  'an empty line before the head': `\r\n${ok}Content-Length: 0\r\n\r\n`,
}

function withoutBody(answer: string): string {
  const start = answer.startsWith('HTTP/1.1 1') ? answer.lastIndexOf('HTTP/1.1 ') : 0
  const end = answer.indexOf('\r\n\r\n', start)
  return end < 0 ? answer : answer.slice(0, end + 4)
}

for (const method of ['GET', 'HEAD']) {
  test(`takes and refuses what node:http does, ${method}`, async (t) => {
    const differing: unknown[] = []
    for (const [name, text] of Object.entries(answers)) {
      const answer = method === 'HEAD' ? withoutBody(text) : text
      const { pool, server } = await upstreamStage(t, async (connection) => {
        await connection.answer(answer)
        connection.socket.end()
      })
      const [mine, other] = [await ours(pool, method), await nodes(server.origin, method)]
      if (!isDeepStrictEqual(mine, other)) differing.push({ name, mine, other })
    }
    assert.deepEqual(differing, [])
  })
}

test('refuses more than node:http does, knowingly', async (t) => {
  for (const [name, answer] of Object.entries(stricter)) {
    const { pool, server } = await upstreamStage(t, async (connection) => {
      await connection.answer(answer)
      connection.socket.end()
    })
    assert.deepEqual(await ours(pool, 'GET'), refused, name)
    assert.notDeepEqual(await nodes(server.origin, 'GET'), refused, name)
  }
})
