/**
 * Sessions: requests that extend one context. A trusted header may name them; otherwise a prompt
 * that contains all of an earlier prompt (and, mostly, its answer) continues that one's session.
 */
import type { BlockChain } from '../block-chain.ts'
import type { EndpointKey } from '../events.ts'
import { limits } from '../limits.ts'

export interface Session {
  readonly id: string
  readonly createdAtMs: number
  /** The endpoint that served its last request. */
  lastEndpoint: EndpointKey | null
  /** Requests dispatched. */
  turns: number
  inFlight: number
  /** Tokens of the last prompt, with its answer once that is known. */
  contextTokens: number
  /** Of those, tokens cached before the session computed any: others hold them as well. */
  sharedTokens: number
  /** How much the context grows from one request to the next, on average. Tokens. */
  growthTokens: number
  /** Since when no request of it runs; null while one does. */
  idleSinceMs: number | null
  /** Time between an answer and the next request, on average: tools or people at work. */
  gapMs: number
}

interface Tip {
  readonly hash: number
  readonly depth: number
}

interface Entry extends Session {
  /** Its name in the table of keys; null for a session that content told. */
  readonly key: string | null
  /** Where its context ends: at its prompt (and little before it), and behind the answer to it. */
  tips: Tip[]
  /** Blocks of its first prompt: what it sent later is its own. */
  firstBlocks: number
}

/**
 * Agents rewrite the end of what they sent before: a reminder goes, a cache mark moves. Of recorded
 * Claude Code requests 5 % keep all but the last of the earlier prompt's 64-token blocks, three
 * quarters of them all but one.
 */
const rewrittenBlocks = [1, 2, 4] as const

/** Weight of the newest turn in the averages. */
const gain = 0.3

export class SessionTable {
  /** In the order of their last use, oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #byKey = new Map<string, Entry>()
  readonly #byTip = new Map<number, Entry>()
  /** How many tips lie at each depth: a chain is looked up only where some tip can be. */
  readonly #tipsAtDepth = new Uint32Array(limits.blocksPerPromptMax + 1)
  readonly #sessionsMax: number
  #ids = 0

  constructor(sessionsMax: number = limits.sessionsMax) {
    this.#sessionsMax = sessionsMax
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * The session of a new request, opened if need be; null when neither a key nor a whole block of
   * content can tell. A request that continues a context still being worked on is a fork (a
   * sub-agent, say): it gets a session of its own that starts at its parent's endpoint.
   *
   * @param sessionKey from a trusted header; it names a session within its tenant only
   */
  arrived(
    atMs: number,
    chain: BlockChain,
    sessionKey: string | null,
    tenant: string,
  ): Session | null {
    if (sessionKey !== null) return this.#keyed(atMs, `${tenant}\0${sessionKey}`)
    if (chain.length === 0) return null
    const parent = this.#deepest(chain)
    if (parent !== null && parent.inFlight === 0) {
      this.#touch(parent)
      return parent
    }
    const opened = this.#open(atMs, null)
    if (parent !== null) opened.lastEndpoint = parent.lastEndpoint
    return opened
  }

  /** Blocks at the head of a new prompt that belong to what the session sent or got before. */
  continuedBlocks(session: Session, chain: BlockChain): number {
    let blocks = 0
    for (const { hash, depth } of (session as Entry).tips) {
      if (depth > blocks && depth <= chain.length && hashAt(chain, depth) === hash) blocks = depth
    }
    return blocks
  }

  /** Its first request was given up at the router: nothing is left of it. */
  abandoned(session: Session): void {
    if (session.turns === 0) this.#forget(session as Entry)
  }

  /** Its request was refused and may come again: it will be the same session, as old as it is. */
  putOff(session: Session, chain: BlockChain): void {
    if (session.turns === 0) this.#moveTips(session as Entry, chain, null)
  }

  /**
   * A request of it was dispatched for the first time.
   * @param atMs when the request arrived
   */
  began(atMs: number, session: Session, chain: BlockChain, promptTokens: number): void {
    const entry = session as Entry
    if (entry.idleSinceMs !== null) {
      entry.gapMs += (entry.turns === 1 ? 1 : gain) * (atMs - entry.idleSinceMs - entry.gapMs)
      const growth = Math.max(0, promptTokens - entry.contextTokens)
      entry.growthTokens += (entry.turns === 1 ? 1 : gain) * (growth - entry.growthTokens)
    }
    entry.turns++
    entry.inFlight++
    entry.idleSinceMs = null
    entry.contextTokens = promptTokens
    this.#moveTips(entry, chain, null)
  }

  /**
   * A request of it ended.
   * @param answered prompt and answer as the next turn will send them; null when unknown
   * @param contextTokens tokens of both
   */
  ended(
    atMs: number,
    session: Session,
    chain: BlockChain,
    answered: BlockChain | null,
    contextTokens: number,
  ): void {
    const entry = session as Entry
    entry.inFlight = Math.max(0, entry.inFlight - 1)
    if (entry.inFlight > 0) return
    entry.idleSinceMs = atMs
    entry.contextTokens = contextTokens
    this.#moveTips(entry, chain, answered)
  }

  #keyed(atMs: number, key: string): Entry {
    const known = this.#byKey.get(key)
    if (known === undefined) return this.#open(atMs, key)
    this.#touch(known)
    return known
  }

  /** The session whose tip lies deepest in the chain. */
  #deepest(chain: BlockChain): Entry | null {
    for (let depth = Math.min(chain.length, limits.blocksPerPromptMax); depth > 0; depth--) {
      if (this.#tipsAtDepth[depth] === 0) continue
      const entry = this.#byTip.get(hashAt(chain, depth))
      if (entry !== undefined) return entry
    }
    return null
  }

  #open(atMs: number, key: string | null): Entry {
    const entry: Entry = {
      id: `s${this.#ids++}`,
      createdAtMs: atMs,
      lastEndpoint: null,
      turns: 0,
      inFlight: 0,
      contextTokens: 0,
      sharedTokens: 0,
      growthTokens: 0,
      idleSinceMs: null,
      gapMs: 0,
      key,
      tips: [],
      firstBlocks: 0,
    }
    this.#entries.set(entry.id, entry)
    if (key !== null) this.#byKey.set(key, entry)
    if (this.#entries.size > this.#sessionsMax) {
      for (const oldest of this.#entries.values()) {
        this.#forget(oldest)
        break
      }
    }
    return entry
  }

  #touch(entry: Entry): void {
    this.#entries.delete(entry.id)
    this.#entries.set(entry.id, entry)
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.id)
    if (entry.key !== null) this.#byKey.delete(entry.key)
    this.#dropTips(entry)
  }

  /** Sessions that a key names are not looked up by content. */
  #moveTips(entry: Entry, prompt: BlockChain, answered: BlockChain | null): void {
    if (!this.#entries.has(entry.id)) return
    this.#dropTips(entry)
    const blocks = Math.min(prompt.length, limits.blocksPerPromptMax)
    this.#addTip(entry, prompt, blocks)
    // Before its first prompt ends, a session's context may be anybody's.
    for (const fewer of rewrittenBlocks) {
      if (entry.firstBlocks > 0 && blocks - fewer > entry.firstBlocks) {
        this.#addTip(entry, prompt, blocks - fewer)
      }
    }
    if (entry.firstBlocks === 0) entry.firstBlocks = blocks
    if (answered !== null) {
      this.#addTip(entry, answered, Math.min(answered.length, limits.blocksPerPromptMax))
    }
  }

  #addTip(entry: Entry, chain: BlockChain, depth: number): void {
    if (depth <= 0) return
    const hash = hashAt(chain, depth)
    if (entry.key !== null) {
      entry.tips.push({ hash, depth })
      return
    }
    // Two sessions may have sent the same prompt; the later one continues it.
    const other = this.#byTip.get(hash)
    if (other === entry) return
    if (other !== undefined) this.#dropTip(other, hash)
    this.#byTip.set(hash, entry)
    this.#tipsAtDepth[depth]!++
    entry.tips.push({ hash, depth })
  }

  #dropTips(entry: Entry): void {
    for (const { hash } of [...entry.tips]) this.#dropTip(entry, hash)
  }

  #dropTip(entry: Entry, hash: number): void {
    const at = entry.tips.findIndex((tip) => tip.hash === hash)
    if (at < 0) return
    const [tip] = entry.tips.splice(at, 1)
    if (entry.key !== null) return
    this.#tipsAtDepth[tip!.depth]!--
    this.#byTip.delete(hash)
  }
}

/** 52 of the 64 bits of the hash at a depth: what a number holds exactly. */
function hashAt(chain: BlockChain, depth: number): number {
  return (chain.hi[depth - 1]! % 0x100000) * 0x100000000 + chain.lo[depth - 1]!
}
