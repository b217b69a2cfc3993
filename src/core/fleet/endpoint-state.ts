/** Everything the core knows of one endpoint; most of it belongs to its current instance. */
import type { EndpointKey } from '../events.ts'
import { CacheTrust } from './cache-trust.ts'
import type { EndpointDescription, EngineSignals } from './endpoint.ts'
import { Health } from './health.ts'
import { Ledger } from './ledger.ts'

/** A scrape older than this says nothing about now. */
const signalsAgeMsMax = 10_000
/** Share of the KV memory that must be on the ledger for its usage to tell of sharing. */
const contextShareMin = 0.1
/** Weight of one scrape in the learned share. */
const residentShareGain = 0.3

export class EndpointState {
  readonly key: EndpointKey
  /** Unique among all instances that ever joined; the prefix index knows endpoints by it. */
  slot: number
  readonly health = new Health()
  ledger = new Ledger()
  trust = new CacheTrust()
  #description: EndpointDescription
  #models: ReadonlySet<string> | null = null
  #signals: EngineSignals | null = null
  #signalsAtMs = Number.NEGATIVE_INFINITY
  /** Requests that the engine held beyond ours at the last scrape: other people's load. */
  foreignRequests = 0
  /**
   * Distinct KV tokens in use per token of context on the ledger, at most 1, as last reported:
   * requests that share a prefix hold it once.
   */
  residentShare = 1

  constructor(key: EndpointKey, slot: number, description: EndpointDescription) {
    this.key = key
    this.slot = slot
    this.#description = description
    this.describe(description)
  }

  get description(): EndpointDescription {
    return this.#description
  }

  /** Merges what the engine said; a field it does not mention keeps its value. */
  describe(description: EndpointDescription): void {
    this.#description = { ...this.#description, ...description }
    const models = this.#description.models
    this.#models = models === undefined ? null : new Set(models.map((model) => model.id))
  }

  /** An endpoint that has not told its models may serve any. */
  serves(model: string | null): boolean {
    return model === null || this.#models === null || this.#models.has(model)
  }

  get models(): ReadonlySet<string> | null {
    return this.#models
  }

  /** A new process: what the old one held and owed is gone. Its hardware is the same. */
  restart(slot: number): void {
    this.slot = slot
    this.ledger = new Ledger()
    this.trust = new CacheTrust()
    this.#signals = null
    this.foreignRequests = 0
    this.residentShare = 1
    this.health.restarted()
  }

  observe(atMs: number, signals: EngineSignals): void {
    this.#signals = signals
    this.#signalsAtMs = atMs
    if (signals.asleep !== null) this.health.asleep = signals.asleep
    const held = (signals.running ?? 0) + (signals.waiting ?? 0)
    if (signals.running !== null) this.ledger.reconcileLingering(held)
    this.foreignRequests = Math.max(0, held - this.ledger.inFlight)
    const { kvCapacityTokens } = this.#description
    if (signals.kvUsage === null || kvCapacityTokens === undefined) return
    // What waits at the engine holds no memory yet.
    const runningShare = signals.running === null || held === 0 ? 1 : signals.running / held
    const contextTokens = this.ledger.contextTokens * runningShare
    // With little in use the ratio says nothing.
    if (contextTokens < kvCapacityTokens * contextShareMin) return
    const share = (signals.kvUsage * kvCapacityTokens) / contextTokens
    this.residentShare += residentShareGain * (Math.min(1, share) - this.residentShare)
  }

  /** The last scrape; null when there was none, or when it is too old to mean anything. */
  signals(nowMs: number): EngineSignals | null {
    return nowMs - this.#signalsAtMs <= signalsAgeMsMax ? this.#signals : null
  }

  get signalsAtMs(): number {
    return this.#signalsAtMs
  }
}
