/** Lines of a decision log, short to write in tests. */
import type {
  CandidateRow,
  DecisionLine,
  HeaderRecord,
  OutcomeRecord,
} from '../../src/observe/decision-record.ts'

export function headerLine(changes: Partial<HeaderRecord> = {}): string {
  const header: HeaderRecord = {
    type: 'header',
    version: 1,
    startedAt: '2026-12-01T00:00:00.000Z',
    startedAtMs: 0,
    routerVersion: '0.1.0',
    policy: 'warmpath',
    blockBytes: 256,
    chains: true,
    ...changes,
  }
  return JSON.stringify(header)
}

export function endpointLine(endpoint: string, atMs: number, present = true): string {
  return JSON.stringify({ type: 'endpoint', atMs, endpoint, present, description: {} })
}

/** A dispatch to `e0` that was predicted to wait 100 ms, prefill for 300 and decode for 600. */
export function decisionLine(changes: Partial<DecisionLine> & { readonly id: string }): string {
  const { arrivedAtMs = 0, endpoint = 'e0' } = changes
  const row: CandidateRow = [endpoint ?? '', 0, 0, 100, 300, 600, 0, 1_000]
  const line: DecisionLine = {
    type: 'decision',
    atMs: arrivedAtMs,
    arrivedAtMs,
    decision: 'dispatch',
    attempt: 1,
    model: 'm',
    tenant: 'default',
    class: 'standard',
    session: null,
    promptBytes: 1_024,
    promptTokens: 256,
    maxOutputTokens: null,
    streaming: true,
    queueWaitMs: 0,
    endpoint,
    code: null,
    summary: '',
    cachedTokens: 0,
    predictedTtftMs: 400,
    candidates: [row],
    chain: null,
    ...changes,
  }
  return JSON.stringify(line)
}

/** Done: first token after 800 ms, all after 2 s, 101 tokens. */
export function outcomeLine(changes: Partial<OutcomeRecord> & { readonly id: string }): string {
  const { ttftMs = 800, e2eMs = 2_000 } = changes
  const line: OutcomeRecord = {
    type: 'outcome',
    atMs: 0,
    endpoint: 'e0',
    outcome: 'done',
    phase: 'stream',
    cause: '',
    status: 200,
    attempts: 1,
    ttftMs,
    ttftSinceDispatchMs: ttftMs,
    e2eMs,
    promptTokens: 256,
    outputTokens: 101,
    cachedTokens: 0,
    answeredBytes: null,
    ...changes,
  }
  return JSON.stringify(line)
}
