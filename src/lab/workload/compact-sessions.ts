import { type Random, seededRandom } from '../../base/random.ts'
import type { BlockChain } from '../../core/block-chain.ts'
import { blockTokens, type Turn, type Workload, type WorkloadSession } from './session.ts'

/**
 * The compact session format: one recorded agent session a line,
 * `{"id", "pre", "r": [[in, out, think_s, api_s, parent_back, shared_blocks], …]}`. The prompt of a
 * request shares its first `shared_blocks` blocks of 64 tokens with the request `parent_back`
 * before it; everything else in it is its own.
 */
export interface CompactSession {
  readonly id: string
  readonly pre: number
  readonly r: readonly (readonly [number, number, number, number, number, number])[]
}

export interface CompactOptions {
  /** Sessions used, the first of the file that fit; all when left out. */
  readonly sessions?: number
  /** Sessions with a longer prompt are left out. */
  readonly promptTokensMax?: number
  /** Requests per session: sessions with fewer are left out, longer ones are cut. */
  readonly turnsMin?: number
  readonly turnsMax?: number
  /** Thinking time is cut to this. */
  readonly gapMsMax?: number
}

/** Sessions of the compact format as a workload in which all start at once. */
export function compactWorkload(
  recorded: readonly CompactSession[],
  options: CompactOptions,
  seed: number,
): Workload {
  const random = seededRandom(seed)
  const { promptTokensMax = Number.POSITIVE_INFINITY, turnsMin = 1 } = options
  const fitting = recorded.filter(
    ({ r }) => r.length >= turnsMin && r.every(([tokens]) => tokens <= promptTokensMax),
  )
  const chosen = fitting.slice(0, options.sessions ?? fitting.length)
  const sessions = chosen.map((one) => session(one, options, random))
  return { name: `compact-${sessions.length}`, sessions }
}

function session(one: CompactSession, options: CompactOptions, random: Random): WorkloadSession {
  const { gapMsMax = Number.POSITIVE_INFINITY, turnsMax = Number.POSITIVE_INFINITY } = options
  const turns: Turn[] = []
  for (const [input, output, thinkS, , parentBack, sharedBlocks] of one.r.slice(0, turnsMax)) {
    const parent = parentBack > 0 ? turns[turns.length - parentBack] : undefined
    const promptTokens = Math.max(1, input)
    const outputTokens = Math.max(1, output)
    const blocks = Math.ceil((promptTokens + outputTokens) / blockTokens)
    const shared = Math.min(sharedBlocks, Math.floor(promptTokens / blockTokens))
    turns.push({
      gapMs: turns.length === 0 ? 0 : Math.min(thinkS * 1_000, gapMsMax),
      promptTokens,
      outputTokens,
      chain: extended(parent?.chain, shared, blocks, random),
    })
  }
  return { id: one.id, startMs: 0, tenant: 'default', priorityClass: 'standard', turns }
}

function extended(
  parent: BlockChain | undefined,
  shared: number,
  blocks: number,
  random: Random,
): BlockChain {
  const lo = new Uint32Array(blocks)
  const hi = new Uint32Array(blocks)
  const head = Math.min(shared, parent?.length ?? 0)
  if (parent !== undefined) {
    lo.set(parent.lo.subarray(0, head))
    hi.set(parent.hi.subarray(0, head))
  }
  for (let i = head; i < blocks; i++) {
    lo[i] = random.next() * 4294967296
    hi[i] = random.next() * 4294967296
  }
  return { lo, hi, length: blocks }
}
