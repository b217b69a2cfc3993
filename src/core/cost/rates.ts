/**
 * What an endpoint's time goes into, as coefficients of the step-time model that the field's
 * simulators use: one step with P prefill tokens, D decoding sequences and C tokens of decode
 * context takes `t0 + a·P + q·pairs + r·D + k·C`, where a prefill token makes a pair with each
 * token before it. All ms.
 */
export interface Rates {
  /** Once per request: network, tokenising, scheduling. */
  readonly overheadMs: number
  /** a: linear layers, per prompt token that is computed. */
  readonly prefillMsPerToken: number
  /** q: attention of prefill, per pair of tokens. */
  readonly pairMs: number
  /** Bringing one cached token back from the host tier. */
  readonly hostReloadMsPerToken: number
  /** t0: a step whatever it computes; the weights are read once. */
  readonly stepMs: number
  /** r: each sequence in a step. */
  readonly stepMsPerSequence: number
  /** k: reading one token of decode context. */
  readonly stepMsPerContextToken: number
}

/** The order of an 8B to 32B model on one or two H100, from published measurements. */
export const priorRates: Rates = {
  overheadMs: 25,
  prefillMsPerToken: 0.035,
  pairMs: 1.5e-6,
  hostReloadMsPerToken: 0.003,
  stepMs: 10,
  stepMsPerSequence: 0.02,
  stepMsPerContextToken: 6e-5,
}

/**
 * What to expect of a newcomer: of each coefficient the median of its peers, so that one odd
 * replica does not speak for the pool. Without peers `priorRates`.
 */
export function poolPrior(peers: readonly Rates[]): Rates {
  if (peers.length === 0) return priorRates
  return {
    overheadMs: median(peers.map((peer) => peer.overheadMs)),
    prefillMsPerToken: median(peers.map((peer) => peer.prefillMsPerToken)),
    pairMs: median(peers.map((peer) => peer.pairMs)),
    hostReloadMsPerToken: median(peers.map((peer) => peer.hostReloadMsPerToken)),
    stepMs: median(peers.map((peer) => peer.stepMs)),
    stepMsPerSequence: median(peers.map((peer) => peer.stepMsPerSequence)),
    stepMsPerContextToken: median(peers.map((peer) => peer.stepMsPerContextToken)),
  }
}

/** Of each coefficient the larger one. */
export function slowest(one: Rates, other: Rates): Rates {
  return {
    overheadMs: Math.max(one.overheadMs, other.overheadMs),
    prefillMsPerToken: Math.max(one.prefillMsPerToken, other.prefillMsPerToken),
    pairMs: Math.max(one.pairMs, other.pairMs),
    hostReloadMsPerToken: Math.max(one.hostReloadMsPerToken, other.hostReloadMsPerToken),
    stepMs: Math.max(one.stepMs, other.stepMs),
    stepMsPerSequence: Math.max(one.stepMsPerSequence, other.stepMsPerSequence),
    stepMsPerContextToken: Math.max(one.stepMsPerContextToken, other.stepMsPerContextToken),
  }
}

function median(values: number[]): number {
  values.sort((a, b) => a - b)
  const middle = values.length >> 1
  return values.length % 2 === 1 ? values[middle]! : (values[middle - 1]! + values[middle]!) / 2
}
