import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Faults, faultsSchema, type RestartOptions } from './faults.ts'
import { answerJson, readBody } from './http-answer.ts'
import type { ReplicaStats } from './replica-report.ts'

/** What can be done to a replica by HTTP. */
export interface Administered {
  readonly faults: Faults
  setFaults(faults: Faults): void
  restart(options?: RestartOptions): Promise<void>
  stats(): ReplicaStats
}

/**
 * `GET /emulator/faults`, `POST /emulator/faults` (replaces them; `{}` mends everything),
 * `POST /emulator/restart?downMs=…&unreadyMs=…`, `GET /emulator/stats`.
 */
export async function serveAdmin(
  replica: Administered,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  if (body === undefined) return
  const url = new URL(request.url ?? '/', 'http://replica')
  const call = `${request.method} ${url.pathname}`
  if (call === 'GET /emulator/faults') answerJson(response, 200, replica.faults)
  else if (call === 'POST /emulator/faults') replaceFaults(replica, body, response)
  else if (call === 'GET /emulator/stats') answerJson(response, 200, replica.stats())
  else if (call === 'POST /emulator/restart') {
    const number = (name: string): number => Number(url.searchParams.get(name) ?? 0)
    const options = { downMs: number('downMs'), unreadyMs: number('unreadyMs') }
    response.setHeader('connection', 'close')
    response.end(JSON.stringify({ restarting: true }))
    // The kill would reset this connection too: the client closes it when it has the answer.
    response.on('close', () => void replica.restart(options))
  } else answerJson(response, 404, { detail: 'Not Found' })
}

function replaceFaults(replica: Administered, body: Buffer, response: ServerResponse): void {
  try {
    replica.setFaults(faultsSchema.parse(JSON.parse(body.toString())))
    answerJson(response, 200, replica.faults)
  } catch (error) {
    answerJson(response, 400, { error: String(error) })
  }
}
