/**
 * Learns the rates of one endpoint from what requests took there.
 *
 * One observation weighs little once there are many, an outlier no more than a moderate surprise.
 * When observations disagree with the belief in the same direction for a while, the belief is at
 * fault: most of its certainty is dropped (`beliefsDropped` counts that), and what comes next
 * counts almost as if it were the first. So a slow replica is believed within some requests and a
 * single stall is not.
 */
import { LogFilter } from './log-filter.ts'
import type {
  DecodeObservation,
  PrefillObservation,
  PrefillWork,
  WholeObservation,
} from './observations.ts'
import { PredictionError } from './prediction-error.ts'
import type { Rates } from './rates.ts'
import { priorRates } from './rates.ts'
import { batchTokensDefault } from './step-time.ts'

/** In the order of the filter's coefficients. */
const coefficients = [
  { name: 'overheadMs', least: 1e-2, most: 3e4, common: 0.2, own: 1.2 },
  { name: 'prefillMsPerToken', least: 1e-6, most: 100, common: 1.6, own: 0.8 },
  { name: 'pairMs', least: 1e-11, most: 1e-2, common: 1.6, own: 1.2 },
  { name: 'hostReloadMsPerToken', least: 1e-6, most: 100, common: 1, own: 1.2 },
  { name: 'stepMs', least: 1e-3, most: 1e4, common: 1.6, own: 0.8 },
  { name: 'stepMsPerSequence', least: 1e-6, most: 1e3, common: 1.6, own: 1.2 },
  { name: 'stepMsPerContextToken', least: 1e-9, most: 1, common: 1.6, own: 1.2 },
] as const satisfies readonly {
  readonly name: keyof Rates
  readonly least: number
  readonly most: number
  /** Standard deviation of its logarithm that it shares with the others: the engine's speed. */
  readonly common: number
  /** And the part that is its own. */
  readonly own: number
}[]

/**
 * Certainty fades with this time constant of activity. With a prior deviation of 1.6 and an
 * observation a second it makes a memory of ten to thirty seconds.
 */
const fadeMs = 6_000_000
/** A silence counts as activity for at most this long. */
const silenceMsMax = 5_000

/** Relative noise of one observation, as a variance of its logarithm: at first, least and most. */
const noiseAtFirst = 0.04
const noiseLeast = 0.0025
const noiseMost = 0.36
const noiseGain = 0.05
/** Others' work is known less well than a request's own: part of it may be done, or cached. */
const noiseAhead = 0.15
/** A wait for room is no rate. */
const noiseCrowded = 1

/** Surprises beyond this many standard deviations count as if they were this large (Huber). */
const surpriseMax = 2
/** As many of them in the same direction, over at least this time, and the belief is dropped. */
const surprisesToDrop = 4
const surpriseSpanMs = 2_000
const dropShare = 0.5

/** What is kept per kind of observation. */
interface Channel {
  noise: number
  /** Consecutive surprises: positive when slower than believed, negative when faster. */
  surprises: number
  surprisesSinceMs: number
}

function newChannel(): Channel {
  return { noise: noiseAtFirst, surprises: 0, surprisesSinceMs: 0 }
}

export class RateEstimator {
  readonly #filter: LogFilter
  readonly #factors = new Float64Array(coefficients.length)
  readonly #prefill = newChannel()
  readonly #decode = newChannel()
  readonly #whole = newChannel()
  #rates: Rates
  #lastAtMs: number | null = null

  /** Predicted against actual time to first token. */
  readonly error = new PredictionError()
  /** Observations learned from. */
  samples = 0
  /** How often the belief contradicted what was seen for so long that it was given up. */
  beliefsDropped = 0

  constructor(prior: Rates = priorRates) {
    this.#filter = new LogFilter({
      values: coefficients.map(({ name }) => prior[name]),
      covariance: priorCovariance(),
      least: coefficients.map(({ least }) => least),
      most: coefficients.map(({ most }) => most),
    })
    this.#rates = this.#read()
  }

  rates(): Rates {
    return this.#rates
  }

  prefillObserved(seen: PrefillObservation): void {
    this.#prefillFactors(seen)
    // While it waited for others, its own overhead went by.
    this.#factors[0] = Math.max(0, 1 - seen.waitedMs / this.#rates.overheadMs)
    this.#learn(this.#prefill, seen.atMs, seen.serviceMs, othersNoise(seen))
  }

  decodeObserved(seen: DecodeObservation): void {
    const factors = this.#factors.fill(0)
    factors[1] = seen.prefillTokensPerToken
    factors[2] = seen.prefillPairsPerToken
    factors[4] = 1
    factors[5] = Math.max(1, seen.sequences)
    factors[6] = Math.max(0, seen.contextTokens)
    this.#learn(this.#decode, seen.atMs, seen.msPerToken, 0)
  }

  wholeObserved(seen: WholeObservation): void {
    this.#prefillFactors(seen)
    const sequences = seen.decodingSequences + 1
    const contextTokens =
      seen.decodingContextTokens + seen.cachedTokens + seen.uncachedTokens + seen.outputTokens / 2
    this.#factors[4]! += seen.outputTokens
    this.#factors[5]! += seen.outputTokens * sequences
    this.#factors[6]! += seen.outputTokens * contextTokens
    this.#learn(this.#whole, seen.atMs, seen.wholeMs, othersNoise(seen))
  }

  /** The sum that a time to first token is. */
  #prefillFactors(work: PrefillWork): void {
    const uncached = Math.max(1, work.uncachedTokens)
    const tokens = work.aheadTokens + uncached
    const steps = Math.max(1, tokens / (work.batchTokensMax ?? batchTokensDefault))
    // A request comes into the middle of a step when others decode.
    const stepsSeen = steps + (work.decodingSequences > 0 ? 0.5 : 0)
    const factors = this.#factors
    factors[0] = 1
    factors[1] = tokens
    // Others are taken to be as deep in their contexts as this request.
    factors[2] = tokens * (work.cachedTokens + uncached / 2)
    factors[3] = work.hostTokens
    factors[4] = stepsSeen
    factors[5] = stepsSeen * (work.decodingSequences + 1)
    factors[6] = stepsSeen * work.decodingContextTokens
  }

  #learn(channel: Channel, atMs: number, measuredMs: number, extraNoise: number): void {
    const factors = this.#factors
    if (!(measuredMs > 0) || !Number.isFinite(measuredMs + this.#filter.predict(factors))) return
    this.#fade(atMs)
    const noise = channel.noise + extraNoise
    const error = Math.log(measuredMs / this.#filter.predict(factors))
    let believed = this.#filter.variance(factors)
    // A request that waited for room may be late and contradict nothing.
    const excused = extraNoise >= noiseCrowded && error > 0
    const surprised = !excused && Math.abs(error) > surpriseMax * Math.sqrt(believed + noise)
    if (this.#contradicted(channel, atMs, surprised ? Math.sign(error) : 0)) {
      this.#filter.forget(dropShare)
      believed = this.#filter.variance(factors)
      this.beliefsDropped++
    }
    const deviation = Math.sqrt(believed + noise)
    const surprise = Math.abs(error) / deviation
    // Huber: the gain shrinks as the surprise grows, so that their product stays the same.
    const shrink = Math.max(1, surprise / surpriseMax)
    const settled = Math.min(surprise, surpriseMax) * deviation
    const variance = (believed + noise) * shrink - believed
    this.#filter.observe(factors, measuredMs, variance)
    const seenNoise = settled ** 2 - believed - extraNoise
    channel.noise += noiseGain * (Math.max(0, seenNoise) - channel.noise)
    channel.noise = Math.min(noiseMost, Math.max(noiseLeast, channel.noise))
    this.samples++
    this.#rates = this.#read()
  }

  #fade(atMs: number): void {
    const sinceMs = atMs - (this.#lastAtMs ?? atMs)
    if (sinceMs > 0) this.#filter.forget(1 - Math.exp(-Math.min(sinceMs, silenceMsMax) / fadeMs))
    this.#lastAtMs = Math.max(atMs, this.#lastAtMs ?? atMs)
  }

  /** @param direction 0 for no surprise; 1 for slower, -1 for faster than believed */
  #contradicted(channel: Channel, atMs: number, direction: number): boolean {
    if (direction === 0 || direction * channel.surprises < 0) channel.surprises = 0
    if (direction === 0) return false
    if (channel.surprises === 0) channel.surprisesSinceMs = atMs
    channel.surprises += direction
    const lastedMs = atMs - channel.surprisesSinceMs
    if (Math.abs(channel.surprises) < surprisesToDrop || lastedMs < surpriseSpanMs) return false
    channel.surprises = 0
    return true
  }

  #read(): Rates {
    const filter = this.#filter
    return {
      overheadMs: filter.value(0),
      prefillMsPerToken: filter.value(1),
      pairMs: filter.value(2),
      hostReloadMsPerToken: filter.value(3),
      stepMs: filter.value(4),
      stepMsPerSequence: filter.value(5),
      stepMsPerContextToken: filter.value(6),
    }
  }
}

/** What is uncertain about an observation beyond the noise of its kind. */
function othersNoise(seen: PrefillWork & { readonly crowded: boolean }): number {
  const shared = seen.aheadTokens / (seen.aheadTokens + Math.max(1, seen.uncachedTokens))
  return noiseAhead * shared + (seen.crowded ? noiseCrowded : 0)
}

function priorCovariance(): Float64Array {
  const size = coefficients.length
  const covariance = new Float64Array(size * size)
  coefficients.forEach((one, i) => {
    coefficients.forEach((other, j) => {
      covariance[i * size + j] = one.common * other.common + (i === j ? one.own ** 2 : 0)
    })
  })
  return covariance
}
