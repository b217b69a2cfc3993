/** The APIs whose bodies the router understands; everything else passes through as `other`. */
export type Api =
  | 'chat'
  | 'completions'
  | 'responses'
  | 'embeddings'
  | 'messages'
  | 'count-tokens'
  | 'other'

const apiOfSuffix: ReadonlyMap<string, Api> = new Map([
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'completions'],
  ['/v1/responses', 'responses'],
  ['/v1/embeddings', 'embeddings'],
  ['/v1/messages', 'messages'],
  ['/v1/messages/count_tokens', 'count-tokens'],
])

/** The API of a request path; trailing slashes are tolerated, a query is ignored. */
export function apiOfPath(path: string): Api {
  return apiOfSuffix.get(path.slice(0, pathEndOf(path))) ?? 'other'
}

/** Where the path of a request target ends: before its query and the slashes that trail. */
export function pathEndOf(target: string): number {
  const query = target.indexOf('?')
  let end = query < 0 ? target.length : query
  while (end > 1 && target.charCodeAt(end - 1) === 0x2f) end--
  return end
}
