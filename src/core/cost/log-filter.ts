/**
 * Learns positive coefficients θ from measured sums `y = Σ xᵢ·θᵢ`: an iterated extended Kalman
 * filter on log θ.
 *
 * Logarithms, because a prior may be wrong by a factor of a hundred either way, because they
 * keep coefficients positive, and because errors of durations are relative. A coefficient
 * moves by its share in the measured sum and by how uncertain it still is, so measurements that
 * cannot tell two coefficients apart move both and keep their proportion.
 */
export interface LogFilterPrior {
  /** Positive. */
  readonly values: readonly number[]
  /** Row-major covariance of the logarithms. */
  readonly covariance: Float64Array
  readonly least: readonly number[]
  readonly most: readonly number[]
}

/** No step changes a coefficient by more than a factor of two: slopes hold only nearby. */
const stepLongest = 0.7
/** And a step of some percent is the last. */
const stepConverged = 0.05
const stepsMax = 12

export class LogFilter {
  readonly #size: number
  readonly #logs: Float64Array
  readonly #logsLeast: Float64Array
  readonly #logsMost: Float64Array
  readonly #priorCovariance: Float64Array
  readonly #covariance: Float64Array
  /** Scratch: share of each coefficient in the sum, covariance times shares; and at the start. */
  readonly #shares: Float64Array
  readonly #gains: Float64Array
  readonly #start: Float64Array
  readonly #startShares: Float64Array
  readonly #step: Float64Array

  constructor(prior: LogFilterPrior) {
    this.#size = prior.values.length
    this.#logs = Float64Array.from(prior.values, Math.log)
    this.#logsLeast = Float64Array.from(prior.least, Math.log)
    this.#logsMost = Float64Array.from(prior.most, Math.log)
    this.#priorCovariance = prior.covariance
    this.#covariance = prior.covariance.slice()
    this.#shares = new Float64Array(this.#size)
    this.#gains = new Float64Array(this.#size)
    this.#start = new Float64Array(this.#size)
    this.#startShares = new Float64Array(this.#size)
    this.#step = new Float64Array(this.#size)
  }

  value(i: number): number {
    return Math.exp(this.#logs[i]!)
  }

  predict(factors: Float64Array): number {
    let sum = 0
    for (let i = 0; i < this.#size; i++) sum += factors[i]! * Math.exp(this.#logs[i]!)
    return sum
  }

  /** Variance of the logarithm of `predict(factors)`, as far as the coefficients are uncertain. */
  variance(factors: Float64Array): number {
    return this.#linearise(factors)
  }

  /** @param noiseVariance of log `measured` */
  observe(factors: Float64Array, measured: number, noiseVariance: number): void {
    const size = this.#size
    this.#start.set(this.#logs)
    this.#linearise(factors)
    this.#startShares.set(this.#shares)
    const firstError = Math.log(measured / this.predict(factors))
    for (let step = 0; step < stepsMax; step++) {
      const moved = this.#stepTowards(factors, measured, noiseVariance)
      if (moved < stepConverged) break
    }
    // Where the shares turned under the step, what it taught is less certain by as much.
    const variance = this.#linearise(factors) + noiseVariance
    let turned = 0
    for (let i = 0; i < size; i++) turned += Math.abs(this.#shares[i]! - this.#startShares[i]!) / 2
    this.#shrinkCovariance(variance + (turned * firstError) ** 2)
  }

  /** One step to the most likely values, seen from the start of the update. */
  #stepTowards(factors: Float64Array, measured: number, noiseVariance: number): number {
    const size = this.#size
    const variance = this.#linearise(factors) + noiseVariance
    let error = Math.log(measured / this.predict(factors))
    for (let i = 0; i < size; i++) error += this.#shares[i]! * (this.#logs[i]! - this.#start[i]!)
    let longest = 0
    for (let i = 0; i < size; i++) {
      this.#step[i] = this.#start[i]! + (this.#gains[i]! / variance) * error - this.#logs[i]!
      longest = Math.max(longest, Math.abs(this.#step[i]!))
    }
    const shorten = Math.min(1, stepLongest / longest)
    for (let i = 0; i < size; i++) {
      const log = this.#logs[i]! + shorten * this.#step[i]!
      this.#logs[i] = Math.min(this.#logsMost[i]!, Math.max(this.#logsLeast[i]!, log))
    }
    return longest
  }

  /**
   * Takes back that share of what was learned about how certain the values are; the values stay.
   * @param share 0 to 1
   */
  forget(share: number): void {
    const prior = this.#priorCovariance
    for (let i = 0; i < prior.length; i++) {
      this.#covariance[i]! += share * (prior[i]! - this.#covariance[i]!)
    }
  }

  /** Fills the scratch for the present values; returns the variance along the shares. */
  #linearise(factors: Float64Array): number {
    const sum = this.predict(factors)
    const size = this.#size
    for (let i = 0; i < size; i++) {
      this.#shares[i] = (factors[i]! * Math.exp(this.#logs[i]!)) / sum
    }
    let variance = 0
    for (let i = 0; i < size; i++) {
      let gain = 0
      for (let j = 0; j < size; j++) gain += this.#covariance[i * size + j]! * this.#shares[j]!
      this.#gains[i] = gain
      variance += gain * this.#shares[i]!
    }
    return Math.max(0, variance)
  }

  #shrinkCovariance(variance: number): void {
    const size = this.#size
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) {
        this.#covariance[i * size + j]! -= (this.#gains[i]! * this.#gains[j]!) / variance
      }
    }
  }
}
