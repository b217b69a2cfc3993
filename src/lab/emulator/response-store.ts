import { ApiError } from './api-error.ts'

/** Responses kept; the oldest is forgotten first. */
const responsesMax = 1000

interface StoredResponse {
  /** The answer as it was sent. */
  readonly body: object
  /** The conversation up to and with the answer, for a request that goes on from it. */
  readonly text: string
}

/** Answers of `/v1/responses`, by id. They are gone when the process restarts. */
export class ResponseStore {
  readonly #byId = new Map<string, StoredResponse>()

  put(id: string, response: StoredResponse): void {
    this.#byId.set(id, response)
    if (this.#byId.size <= responsesMax) return
    for (const oldest of this.#byId.keys()) {
      this.#byId.delete(oldest)
      return
    }
  }

  /** Throws the engine's 404 for an id that it does not know. */
  get(id: string): StoredResponse {
    const stored = this.#byId.get(id)
    if (stored !== undefined) return stored
    const message = `Response with id '${id}' not found.`
    throw new ApiError(404, 'invalid_request_error', message, 'response_id')
  }

  delete(id: string): void {
    this.get(id)
    this.#byId.delete(id)
  }
}
