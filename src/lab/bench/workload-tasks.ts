import type { BlockChain } from '../../core/block-chain.ts'
import { blockTokens as blockTokensOfLab, type Turn, type Workload } from '../workload/session.ts'
import type { BenchTask, BenchTurn, Message, TaskSource } from './bench-task.ts'
import { type ChainTokens, chainText } from './block-text.ts'

/**
 * The sessions of a workload, such as the simulator runs, as tasks with text: prompts share just
 * what their block chains share. Answers that a later prompt holds are the workload's, not those
 * that came, so that every run, and every URL, is sent the same.
 */
export class WorkloadTasks implements TaskSource {
  readonly #workload: Workload
  readonly #spelling: Spelling
  #next = 0

  constructor(workload: Workload, salt: number) {
    this.#workload = workload
    this.#spelling = { blockTokens: workload.blockTokens ?? blockTokensOfLab, salt }
  }

  next(): BenchTask | null {
    const session = this.#workload.sessions[this.#next++]
    if (session === undefined) return null
    return { turns: turnsOf(session.turns, this.#spelling) }
  }
}

/** How hashes become text. */
type Spelling = Omit<ChainTokens, 'chain'>

/** Where messages of a prompt begin, by tokens; the first is the user's. */
type Bounds = readonly { readonly at: number; readonly role: Message['role'] }[]

function turnsOf(turns: readonly Turn[], spelling: Spelling): BenchTurn[] {
  let bounds: Bounds = []
  let before: Turn | null = null
  return turns.map((turn) => {
    bounds = boundsOf(turn, before, bounds, spelling.blockTokens)
    before = turn
    const own = bounds
    return {
      gapMs: turn.gapMs,
      outputTokens: turn.outputTokens,
      messages: () => messagesOf(turn, own, spelling),
    }
  })
}

/** Those of the turn before, as far as the prompts are the same; then its answer, then the rest. */
function boundsOf(turn: Turn, before: Turn | null, earlier: Bounds, blockTokens: number): Bounds {
  if (before === null) return [{ at: 0, role: 'user' }]
  const shared = sharedBlocks(turn.chain, before.chain) * blockTokens
  const answered = before.promptTokens + before.outputTokens
  const kept = earlier.filter(({ at }) => at < Math.min(shared, turn.promptTokens))
  const bounds = kept.length === 0 ? [{ at: 0, role: 'user' as const }] : [...kept]
  if (shared + blockTokens > before.promptTokens && answered < turn.promptTokens) {
    bounds.push({ at: before.promptTokens, role: 'assistant' }, { at: answered, role: 'user' })
  } else if (bounds.at(-1)!.role === 'assistant') {
    bounds.push({ at: Math.min(shared, turn.promptTokens - 1), role: 'user' })
  }
  return bounds
}

function messagesOf(turn: Turn, bounds: Bounds, spelling: Spelling): Message[] {
  return bounds.map(({ at, role }, i) => {
    const end = bounds[i + 1]?.at ?? turn.promptTokens
    return { role, content: chainText({ chain: turn.chain, ...spelling }, at, end) }
  })
}

function sharedBlocks(a: BlockChain, b: BlockChain): number {
  const most = Math.min(a.length, b.length)
  for (let i = 0; i < most; i++) {
    if (a.lo[i] !== b.lo[i] || a.hi[i] !== b.hi[i]) return i
  }
  return most
}
