/** What is known of one engine replica: from configuration, from the engine, from its metrics. */

export type EngineKind =
  | 'vllm'
  | 'sglang'
  | 'tensorrt-llm'
  | 'llama.cpp'
  | 'ollama'
  | 'tgi'
  | 'unknown'

/** One model or adapter that an endpoint serves. */
export interface ServedModel {
  readonly id: string
  /** The base model of an adapter; null for a base model. */
  readonly parent: string | null
  /** Context limit in tokens; null where the engine does not say. */
  readonly maxModelLen: number | null
}

/** Slow facts. Every field is optional: what is missing is unknown, never zero. */
export interface EndpointDescription {
  readonly engine?: EngineKind
  readonly version?: string
  readonly models?: readonly ServedModel[]
  /** Differs between two processes on one address: process start time, boot id. */
  readonly instanceId?: string
  readonly kvCapacityTokens?: number
  readonly hostCapacityTokens?: number
  /** Smallest run of tokens that the engine's prefix cache can match. */
  readonly matchUnitTokens?: number
  readonly runningMax?: number
  /** Tokens of one scheduler step (chunked prefill). */
  readonly batchTokensMax?: number
  /** Price of one hour of this replica, in the operator's currency. */
  readonly pricePerHour?: number
}

/** Fast facts, from one scrape. Null is "not reported", never zero. */
export interface EngineSignals {
  readonly running: number | null
  readonly waiting: number | null
  /** Share of KV memory in use by running requests, 0 to 1. */
  readonly kvUsage: number | null
  /** True while the engine sleeps or is paused: it answers health checks but serves nothing. */
  readonly asleep: boolean | null
  /** Prompt tokens looked up in and found in the engine's prefix cache, since its start. */
  readonly prefixQueriedTokens: number | null
  readonly prefixHitTokens: number | null
}
