/** An explained request as text for an operator. */
import type { CandidateReasons, Dispatch, Hold, Refuse } from '../core/decisions.ts'
import type { ExplainedRequest, ExplainedStep } from '../observe/recent-decisions.ts'
import { textTable } from './text-table.ts'

/** What was asked, each step with its candidates, and predicted beside measured. */
export function renderExplanation(request: ExplainedRequest): string {
  const { requestId, model, tenant, promptBytes, streaming } = request
  const blocks = [
    `request ${requestId}: model ${model ?? '(none)'}, ${promptBytes.toLocaleString('en-US')} ` +
      `bytes of prompt, ${streaming ? 'streaming' : 'not streaming'}, tenant ${tenant || '(none)'}`,
    ...request.steps.map((step) => renderStep(step, request.arrivedAtMs)),
    renderEnd(request),
  ]
  return blocks.join('\n\n')
}

function renderStep({ atMs, what }: ExplainedStep, arrivedAtMs: number): string {
  const at = `+${round(atMs - arrivedAtMs)} ms:`
  switch (what.type) {
    case 'dispatch':
      return `${at} ${dispatchText(what)}\n${candidateTable(what)}`
    case 'hold':
      return `${at} ${holdText(what, atMs)}`
    case 'refuse':
      return `${at} ${refuseText(what)}`
    case 'failed':
      return `${at} the attempt failed (${what.cause}, phase ${what.phase})`
  }
}

function dispatchText(dispatch: Dispatch): string {
  const { endpoint, attempt, reasons, queueWaitMs } = dispatch
  const held = queueWaitMs > 0 ? ` after ${round(queueWaitMs)} ms at the router` : ''
  return `attempt ${attempt} to ${endpoint}${held}, by ${reasons.policy}: ${reasons.summary}`
}

function holdText(hold: Hold, atMs: number): string {
  return `held at the router for at most ${round(hold.deadlineMs - atMs)} ms: ${hold.reason}`
}

function refuseText(refuse: Refuse): string {
  const { code, message, retryAfterMs } = refuse
  const retry = retryAfterMs === null ? '' : ` (retry after ${round(retryAfterMs / 1000)} s)`
  return `refused with ${code}: ${message}${retry}`
}

function candidateTable(dispatch: Dispatch): string {
  const row = (candidate: CandidateReasons): (string | number | null)[] => [
    candidate.endpoint === dispatch.endpoint ? '*' : '',
    candidate.endpoint,
    candidate.gpuTokens,
    candidate.hostTokens,
    round(candidate.waitMs),
    round(candidate.prefillMs),
    round(candidate.decodeMs),
    round(candidate.externalityMs),
    round(candidate.score),
  ]
  const { candidates, excluded } = dispatch.reasons
  const table = textTable(
    ['', 'endpoint', 'gpu tokens', 'host tokens', 'wait', 'prefill', 'decode', 'others', 'score'],
    candidates.map(row),
  )
  return [table, ...excluded.map((each) => `not ${each.endpoint}: ${each.reason}`)].join('\n')
}

function renderEnd(request: ExplainedRequest): string {
  const { end } = request
  if (end === null) return 'It has not ended.'
  const last = request.steps.findLast(({ what }) => what.type === 'dispatch')?.what
  const dispatch = last?.type === 'dispatch' ? last : null
  const table = textTable(
    ['', 'predicted', 'actual'],
    [
      ['first token, ms', orNull(dispatch?.predictedTtftMs), orNull(end.ttftSinceDispatchMs)],
      ['prompt tokens', orNull(dispatch?.promptTokens), end.usage.promptTokens],
      ['cached tokens', orNull(dispatch?.cachedTokens), end.usage.cachedTokens],
    ],
  )
  const took = `${round(end.atMs - request.arrivedAtMs)} ms`
  return `${end.outcome} after ${took} (${end.cause}, phase ${end.phase})\n${table}`
}

const orNull = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : round(value)

/** Tenths below a hundred, whole numbers above: more digits pretend to a precision that is not. */
function round(value: number): number {
  return Math.abs(value) < 100 ? Math.round(value * 10) / 10 : Math.round(value)
}
