/**
 * What the engine model needs to know about one model on one set of devices. The step-time
 * coefficients are those of `stepTimeMs`; the rest are limits and defaults of the engine.
 */
export interface EngineProfile {
  readonly name: string
  /** The model name that the engine serves. */
  readonly model: string
  /** Where the numbers come from. */
  readonly source: string
  /** Fixed cost of a step, ms: weights read once, launches, sampling. */
  readonly t0Ms: number
  /** Linear layers, ms per prefill token. */
  readonly prefillMsPerToken: number
  /** Attention of prefill, ms per (new token, earlier token) pair. */
  readonly pairMs: number
  /** Reading KV memory in decode, ms per distinct resident token. */
  readonly contextMsPerToken: number
  /** Attention work in decode, ms per token of context, shared or not. */
  readonly logicalContextMsPerToken: number
  /** Host work, ms per sequence in the step. */
  readonly perSequenceMs: number
  /** KV cache on the GPU, in tokens. */
  readonly kvTokens: number
  readonly blockTokens: number
  /** Token budget of one step (vLLM's max_num_batched_tokens). */
  readonly batchTokensMax: number
  /** Sequences that may be in progress at once (vLLM's max_num_seqs). */
  readonly runningMax: number
  /** Longest prompt plus answer, in tokens (vLLM's max_model_len). */
  readonly contextTokensMax: number
  /** KV cache in host memory, in tokens; 0 is none. */
  readonly hostTokens: number
  /** Bringing KV back from host memory, ms per token; loads of one engine follow each other. */
  readonly hostReloadMsPerToken: number
  /** Time before a request reaches the engine's queue, ms: HTTP, templating, hand-over. */
  readonly ingressMs: number
  /**
   * And the part that grows with the prompt, ms per token: tokenising, hashing. One process does it
   * for all requests of an engine, one after the other.
   */
  readonly ingressMsPerToken: number
  /**
   * Whether another request can hit a block as soon as its computation is scheduled (vLLM) or only
   * when the prefill that computes it is done (SGLang).
   */
  readonly hitsInFlight: boolean
  /** Rent of the devices, dollars per hour. */
  readonly pricePerHour: number
}

/** The engine's defaults, and costs that no published profile states per model. */
export const profileDefaults = {
  /**
   * What remains of the 8.7 ms per step that an 8B model on an H100 was measured to take with 64
   * sequences of 256 tokens, when weights and KV reads are taken off.
   */
  perSequenceMs: 0.014,
  blockTokens: 16,
  batchTokensMax: 8192,
  runningMax: 256,
  contextTokensMax: 131_072,
  hostTokens: 0,
  hostReloadMsPerToken: 0,
  ingressMs: 0,
  ingressMsPerToken: 0,
  hitsInFlight: true,
} as const
