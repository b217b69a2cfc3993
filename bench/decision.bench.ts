/**
 * One decision of the whole core: 64 endpoints, a prompt of 200k tokens, a million blocks indexed.
 * `Router.handle(request-arrived)` matches the prompt on every endpoint, prices all of them,
 * chooses, reserves, inserts the prompt's blocks and evicts others. `npm run bench:decision`
 */
import { seededRandom } from '../src/base/random.ts'
import { textTable } from '../src/commands/text-table.ts'
import { type BlockChain, blockBytes } from '../src/core/block-chain.ts'
import { policies } from '../src/core/policy/registry.ts'
import { ApproximateIndex } from '../src/core/prefix/approximate-index.ts'
import { NaiveIndex } from '../src/core/prefix/naive-index.ts'
import type { PrefixIndex } from '../src/core/prefix/prefix-index.ts'
import { Router } from '../src/core/router.ts'
import { readRequest } from '../src/protocol/read-request.ts'

export interface DecisionBenchSize {
  readonly endpoints: number
  readonly blocksPerEndpoint: number
  readonly promptBlocks: number
  readonly decisions: number
  /** Decisions taken with the naive index, which is slow. */
  readonly naiveDecisions: number
}

export const fullSize: DecisionBenchSize = {
  endpoints: 64,
  blocksPerEndpoint: 16_384,
  promptBlocks: 3_125,
  decisions: 1_000,
  naiveDecisions: 30,
}

export interface DecisionBenchResult {
  readonly blocksIndexed: number
  readonly bytesPerBlock: number
  readonly decisionMs: Percentiles
  readonly hashingMs: Percentiles
  readonly bothMs: Percentiles
  readonly naiveMs: Percentiles
  /** Dispatched to each endpoint: shows that the work was not all in one place. */
  readonly endpointsUsed: number
}

interface Percentiles {
  readonly p50: number
  readonly p99: number
}

/** Tokens per block under the router's prior. */
const blockTokens = blockBytes / 4
const sessions = 256

export function decisionBench(size: DecisionBenchSize, seed = 1): DecisionBenchResult {
  const index = new ApproximateIndex()
  const ours = decisions(index, size, size.decisions, seed)
  const naive = decisions(
    new NaiveIndex(),
    { ...size, blocksPerEndpoint: 4_096 },
    size.naiveDecisions,
    seed,
  )
  const hashing = hashingTimes(size)
  return {
    blocksIndexed: index.allocatedBlocks,
    bytesPerBlock: index.bytes / Math.max(1, index.allocatedBlocks),
    decisionMs: percentiles(ours.ms),
    hashingMs: percentiles(hashing),
    bothMs: {
      p50: percentiles(ours.ms).p50 + percentiles(hashing).p50,
      p99: percentiles(ours.ms).p99 + percentiles(hashing).p99,
    },
    naiveMs: percentiles(naive.ms),
    endpointsUsed: ours.used.size,
  }
}

/** Fills the index, then times single decisions. */
function decisions(index: PrefixIndex, size: DecisionBenchSize, count: number, seed: number) {
  const random = seededRandom(seed)
  const router = new Router({ policy: policies.warmpath(), index, random, unknownModels: 'reject' })
  for (let i = 0; i < size.endpoints; i++) {
    const endpoint = `http://engine-${i}:8000`
    const kvCapacityTokens = size.blocksPerEndpoint * blockTokens
    const models = [{ id: 'm', parent: null, maxModelLen: null }]
    const description = { engine: 'vllm', models, kvCapacityTokens } as const
    router.handle({ type: 'endpoint-joined', atMs: 0, endpoint, description })
    router.handle({ type: 'endpoint-probed', atMs: 0, endpoint, healthy: true, reason: '' })
  }
  const chains = Array.from({ length: sessions }, () => chainOf(random, size.promptBlocks))
  for (let i = 0; i < size.endpoints; i++) {
    // Every endpoint is full of some of the sessions, so that each insertion evicts.
    for (let held = 0; held * size.promptBlocks < size.blocksPerEndpoint; held++) {
      index.insert(i, chains[(i * 4 + held) % sessions]!)
      index.confirm(i, chains[(i * 4 + held) % sessions]!)
    }
  }
  const used = new Set<string>()
  const ms: number[] = []
  // The first decisions teach the compiler; a router takes them once in its life.
  const warmUp = count >> 2
  const fresh = Array.from({ length: (count + warmUp) >> 2 }, () =>
    chainOf(random, size.promptBlocks),
  )
  for (let n = 0; n < count + warmUp; n++) {
    const known = chains[Math.floor(random.next() * sessions)]!
    const chain = n % 4 === 3 ? fresh[n >> 2]! : known
    const requestId = `r${n}`
    const startMs = performance.now()
    const [decision] = router.handle(arrival(requestId, chain, n))
    if (n >= warmUp) ms.push(performance.now() - startMs)
    if (decision?.type !== 'dispatch') throw new Error('not dispatched')
    used.add(decision.endpoint)
    const atMs = n * 10 + 5
    router.handle({ type: 'first-token', atMs, requestId })
    router.handle(ending(requestId, atMs))
  }
  return { ms, used }
}

function arrival(requestId: string, chain: BlockChain, n: number) {
  return {
    type: 'request-arrived',
    atMs: n * 10,
    requestId,
    model: 'm',
    chain,
    promptBytes: chain.length * blockBytes,
    maxOutputTokens: 200,
    streaming: true,
    sessionKey: null,
    tenant: 'default',
    priorityClass: 'standard',
    pinnedTo: null,
  } as const
}

function ending(requestId: string, atMs: number) {
  return {
    type: 'request-ended',
    atMs,
    requestId,
    outcome: 'done',
    phase: 'stream',
    cause: 'done',
    endpointFault: false,
    usage: { promptTokens: null, outputTokens: 100, cachedTokens: null },
    answered: null,
  } as const
}

function chainOf(random: { next(): number }, blocks: number): BlockChain {
  const lo = new Uint32Array(blocks)
  const hi = new Uint32Array(blocks)
  for (let i = 0; i < blocks; i++) {
    lo[i] = random.next() * 4294967296
    hi[i] = random.next() * 4294967296
  }
  return { lo, hi, length: blocks }
}

/** Reading and hashing the body of such a prompt: what comes before the decision. */
function hashingTimes(size: DecisionBenchSize): number[] {
  const text = 'The function returns an error when the path is missing. '
  const content = text.repeat(Math.ceil((size.promptBlocks * blockBytes) / 20 / text.length))
  const messages = Array.from({ length: 20 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} ${content}`,
  }))
  const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
  const ms: number[] = []
  for (let n = 0; n < 20 + Math.min(400, size.decisions); n++) {
    const startMs = performance.now()
    readRequest('chat', body, '')
    if (n >= 20) ms.push(performance.now() - startMs)
  }
  return ms
}

function percentiles(samples: readonly number[]): Percentiles {
  const ascending = [...samples].sort((a, b) => a - b)
  const at = (p: number): number => ascending[Math.max(0, Math.ceil(p * ascending.length) - 1)]!
  return { p50: at(0.5), p99: at(0.99) }
}

if (import.meta.main) {
  const result = decisionBench(fullSize)
  const times = result.naiveMs.p50 / result.decisionMs.p50
  const row = (name: string, { p50, p99 }: Percentiles) => [name, p50.toFixed(3), p99.toFixed(3)]
  process.stdout.write(
    textTable(
      ['', 'p50 ms', 'p99 ms'],
      [
        row('decision: match, price, choose, insert, evict', result.decisionMs),
        row('reading and hashing the body (800 KB)', result.hashingMs),
        row('both', result.bothMs),
        row('decision with the naive index (a quarter of the blocks)', result.naiveMs),
      ],
    ),
  )
  process.stdout.write(
    `\n${result.blocksIndexed} blocks indexed, ${result.bytesPerBlock.toFixed(1)} bytes per ` +
      `block and holder; ${times.toFixed(0)} times the naive index's speed\n`,
  )
}
