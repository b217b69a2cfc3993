/**
 * What reading a request costs: microseconds per body, and as a multiple of `JSON.parse` alone on
 * the same bytes. Run: `node bench/prompt.bench.ts`.
 */
import { pathToFileURL } from 'node:url'
import { readRequest } from '../src/protocol/read-request.ts'

export interface PromptBenchRow {
  readonly bodyBytes: number
  readonly parseUs: number
  readonly readUs: number
  readonly ratio: number
}

const kilobyte = 1_024
export const fullSizes = [kilobyte, 32 * kilobyte, 128 * kilobyte, 1_024 * kilobyte]

/** An agent's conversation: a system prompt, tools, and turns of text, calls and results. */
export function agentBody(bytes: number): Buffer {
  const tools = Array.from({ length: bytes < 8 * kilobyte ? 0 : 8 }, (_, i) => ({
    type: 'function',
    function: {
      name: `tool_${i}`,
      description: 'Reads a file.\nReturns "text".',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  }))
  const messages: object[] = [{ role: 'system', content: 'You are an agent. '.repeat(10) }]
  const size = (): number => Buffer.byteLength(JSON.stringify({ tools, messages }))
  const result = 'if (a[i] === "x") {\n\treturn b.map((c) => c.d)\n}\n\n// The next line is code.\n'
  const turn = Math.max(1, Math.min(24, Math.floor(bytes / 4_000)))
  for (let id = 0; size() < bytes; id++) {
    const call = { name: 'tool_1', arguments: `{"path": "src/file-${id}.ts"}` }
    messages.push({
      role: 'assistant',
      content: `Step ${id}.`,
      tool_calls: [{ id, function: call }],
    })
    messages.push({ role: 'tool', tool_call_id: id, content: `${id} ${result.repeat(turn)}` })
  }
  return Buffer.from(JSON.stringify({ model: 'model', stream: true, tools, messages }))
}

/** The best of some rounds: noise only ever adds. */
function bestUs(rounds: number, calls: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint()
    for (let call = 0; call < calls; call++) run()
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1_000 / calls)
  }
  return best
}

/** Measures each size for about `budgetMs`. */
export function benchPrompts(sizes: readonly number[], budgetMs: number): PromptBenchRow[] {
  return sizes.map((size) => {
    const body = agentBody(size)
    const calls = Math.max(1, Math.round((budgetMs * 5_000) / (body.length + 5_000) / 4))
    const parse = (): void => void JSON.parse(body.toString())
    const read = (): void => void readRequest('chat', body, '')
    bestUs(2, calls, parse)
    bestUs(2, calls, read)
    const parseUs = bestUs(6, calls, parse)
    const readUs = bestUs(6, calls, read)
    return { bodyBytes: body.length, parseUs, readUs, ratio: readUs / parseUs }
  })
}

function print(rows: readonly PromptBenchRow[]): void {
  process.stdout.write('body bytes   parse us   read us   ratio\n')
  for (const { bodyBytes, parseUs, readUs, ratio } of rows) {
    const cells = [
      String(bodyBytes).padStart(10),
      parseUs.toFixed(1).padStart(10),
      readUs.toFixed(1).padStart(9),
      ratio.toFixed(2).padStart(7),
    ]
    process.stdout.write(`${cells.join(' ')}\n`)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  print(benchPrompts(fullSizes, 1_000))
}
