import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, type ErrorShape, errorBody, invalidJson } from './api-error.ts'
import type { EngineProcess } from './engine-process.ts'
import type { GenerationApi } from './generation-request.ts'
import { answerJson, answerText, readBody } from './http-answer.ts'
import { isObject, type JsonObject } from './json.ts'
import { serveEmbeddings } from './serve-embeddings.ts'
import { serveGeneration } from './serve-generation.ts'
import { later, serveCountTokens, serveTokenize, servicePaths } from './service-paths.ts'

type BodyHandler = (
  process: EngineProcess,
  body: JsonObject,
  request: IncomingMessage,
  response: ServerResponse,
) => void

const generate =
  (api: GenerationApi): BodyHandler =>
  (process, body, request, response) =>
    serveGeneration(process, api, body, request, response)

/** Paths that cost engine time; faults on answers apply to them. */
const workPaths: Readonly<Record<string, BodyHandler>> = {
  '/v1/chat/completions': generate('chat'),
  '/v1/completions': generate('completions'),
  '/v1/messages': generate('messages'),
  '/v1/responses': generate('responses'),
  '/v1/embeddings': (process, body, _request, response) => serveEmbeddings(process, body, response),
}

/** Paths that only count. */
const countPaths: Readonly<Record<string, BodyHandler>> = {
  '/tokenize': (process, body, _request, response) => serveTokenize(process, body, response),
  '/v1/messages/count_tokens': (process, body, _request, response) =>
    serveCountTokens(process, body, response),
}

const storedResponsePath = /^\/v1\/responses\/([^/]+)(\/cancel)?$/

/** Answers one HTTP request as the engine would, faults included. */
export async function serveRequest(
  process: EngineProcess,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = pathOf(request)
  const body = await readBody(request)
  if (body === undefined) return
  if (workPaths[path] !== undefined) {
    const delayMs = process.faults.headersDelayMs ?? 0
    await new Promise<void>((resolve) => later(process, delayMs, resolve))
    if (response.destroyed) return
  }
  if (process.faults.missingPaths?.includes(path)) {
    answerJson(response, 404, { detail: 'Not Found' })
    return
  }
  try {
    route(process, path, body, request, response)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    answerJson(response, error.status, errorBody(error, shapeOf(process, path, error)))
  }
}

/** vLLM's validator answers before it is known that the path speaks Anthropic's language. */
function shapeOf(process: EngineProcess, path: string, error: ApiError): ErrorShape {
  const validated = error.type !== 'Bad Request'
  return validated && path.startsWith('/v1/messages') ? 'anthropic' : process.errorShape
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/'
  const query = url.indexOf('?')
  return decodeURIComponent(query < 0 ? url : url.slice(0, query))
}

function route(
  process: EngineProcess,
  path: string,
  body: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method } = request
  const stored = storedResponsePath.exec(path)
  const service = servicePaths[path]
  const work = workPaths[path]
  const handler = work ?? countPaths[path]
  if (stored !== null) serveStored(process, stored[1], request, response)
  else if (service !== undefined) {
    if (method === 'GET' || path === '/ping') service(process, response, request)
    else refuseMethod(response, 'GET')
  } else if (handler === undefined) answerJson(response, 404, { detail: 'Not Found' })
  else if (method !== 'POST') refuseMethod(response, 'POST')
  else if (work !== undefined) serveWork(process, work, body, request, response)
  else handler(process, parseBody(body), request, response)
}

function refuseMethod(response: ServerResponse, allow: string): void {
  response.setHeader('allow', allow)
  answerJson(response, 405, { detail: 'Method Not Allowed' })
}

function serveWork(
  process: EngineProcess,
  handler: BodyHandler,
  body: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  process.load += 1
  response.on('close', () => {
    process.load -= 1
  })
  const failure = process.takeError()
  if (failure !== undefined) {
    if (failure.retryAfterS !== undefined) response.setHeader('retry-after', failure.retryAfterS)
    const contentType = failure.contentType ?? 'application/json'
    answerText(response, failure.status, contentType, failure.body ?? '')
    return
  }
  if (process.faults.rejectNew === true) {
    throw new ApiError(500, 'InternalServerError', 'cannot schedule new futures after shutdown')
  }
  handler(process, parseBody(body), request, response)
}

/** Retrieve, cancel or delete a stored response. */
function serveStored(
  process: EngineProcess,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { body } = process.responses.get(id)
  if (request.method !== 'DELETE') {
    answerJson(response, 200, body)
    return
  }
  process.responses.delete(id)
  answerJson(response, 200, { id, object: 'response', deleted: true })
}

function parseBody(body: Buffer): JsonObject {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString())
  } catch {
    throw invalidJson(body.length)
  }
  if (isObject(parsed)) return parsed
  throw new ApiError(400, 'Bad Request', 'the body must be a JSON object', 'body')
}
