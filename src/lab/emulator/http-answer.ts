import type { IncomingMessage, ServerResponse } from 'node:http'

/** Bodies longer than this are refused, so that a test gone wild does not eat the memory. */
const bodyBytesMax = 256 * 1024 * 1024

/** Reads a body whole; undefined where it is too long or the client has gone. */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > bodyBytesMax) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('close', () => resolve(undefined))
  })
}

/**
 * Starts an answer with the headers of a uvicorn server, which says nothing about keep-alive: a
 * client learns that an idle connection was closed when it is closed.
 */
export function writeHead(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string | number>>,
): void {
  response.sendDate = true
  response.removeHeader('connection')
  response.writeHead(status, { server: 'uvicorn', ...headers })
}

export function answerJson(response: ServerResponse, status: number, value: object): void {
  answerText(response, status, 'application/json', JSON.stringify(value))
}

export function answerText(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
): void {
  const body = Buffer.from(text)
  writeHead(response, status, { 'content-length': body.length, 'content-type': contentType })
  response.end(body)
}

export function answerEmpty(response: ServerResponse, status: number): void {
  writeHead(response, status, { 'content-length': 0 })
  response.end()
}
