import assert from 'node:assert/strict'
import test from 'node:test'
import { logLines } from './log-lines.ts'
import { type LogFormat, type LogLevel, type LogLine, pinoLogger } from './logger.ts'

function written(format: LogFormat, level: LogLevel, line: LogLine): string[] {
  const out: string[] = []
  const destination = { write: (text: string) => void out.push(text) }
  pinoLogger({ level, format, destination }).log(line)
  return out
}

test('a JSON line has time, level, event, message and fields', () => {
  const [line] = written('json', 'info', logLines.endpointDown('http://e0', 'connection refused'))
  const { time, ...rest } = JSON.parse(line!)
  assert.match(time, /^\d{4}-\d\d-\d\dT/)
  assert.deepEqual(rest, {
    level: 'warn',
    event: 'endpoint.down',
    endpoint: 'http://e0',
    reason: 'connection refused',
    message: 'endpoint does not answer',
  })
})

test('lines below the level are not written', () => {
  assert.equal(written('json', 'warn', logLines.endpointLeft('http://e0')).length, 0)
  assert.equal(written('json', 'info', logLines.endpointLeft('http://e0')).length, 1)
})

test('text stays one line each, whatever a client put into a name', () => {
  const nasty = 'a b\n12:00:00 error forged\u001b[31m'
  const line = logLines.requestRefused('r1', nasty, 'model_not_found', `no model '${nasty}'`)
  const [text] = written('text', 'info', line)
  assert.equal(text!.indexOf('\n'), text!.length - 1)
  assert.ok(!text!.includes('\u001b'))
  assert.match(text!, /^[\d:.]{12} warn {2}request refused requestId=r1 model="a b\\n/)
})

test('strings from outside are cut to a bound', () => {
  const line = logLines.requestRefused('r1', 'x'.repeat(10_000), 'model_not_found', 'no')
  assert.ok(String(line.fields.model).length <= 200)
  const fault = logLines.internalError('r1', new Error('y'.repeat(10_000)))
  assert.ok(JSON.stringify(fault).length < 2_500)
})
