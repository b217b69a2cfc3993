/**
 * Learns positive coefficients θ from measured sums `y = Σ xᵢ·θᵢ`: an iterated extended Kalman
 * filter on log θ.
 *
 * Logarithms, because a prior may be wrong by a factor of a hundred either way, because coefficients
 * stay positive without being told to, and because errors of durations are relative. A coefficient
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

const iterations = 3

export class LogFilter {
  readonly #prior: LogFilterPrior
  readonly #size: number
  readonly #logs: Float64Array
  readonly #covariance: Float64Array
  /** Scratch: share of each coefficient in the sum, covariance times shares, and a start. */
  readonly #shares: Float64Array
  readonly #gains: Float64Array
  readonly #start: Float64Array

  constructor(prior: LogFilterPrior) {
    this.#prior = prior
    this.#size = prior.values.length
    this.#logs = Float64Array.from(prior.values, Math.log)
    this.#covariance = prior.covariance.slice()
    this.#shares = new Float64Array(this.#size)
    this.#gains = new Float64Array(this.#size)
    this.#start = new Float64Array(this.#size)
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
    const { least, most } = this.#prior
    this.#start.set(this.#logs)
    let variance = 0
    for (let k = 0; k < iterations; k++) {
      variance = this.#linearise(factors) + noiseVariance
      // Seen from the start of the update, with the slopes of where it has come to.
      let error = Math.log(measured / this.predict(factors))
      for (let i = 0; i < this.#size; i++) {
        error += this.#shares[i]! * (this.#logs[i]! - this.#start[i]!)
      }
      for (let i = 0; i < this.#size; i++) {
        const log = this.#start[i]! + (this.#gains[i]! / variance) * error
        this.#logs[i] = Math.min(Math.log(most[i]!), Math.max(Math.log(least[i]!), log))
      }
    }
    this.#shrinkCovariance(variance)
  }

  /**
   * Takes back that share of what was learned about how certain the values are; the values stay.
   * @param share 0 to 1
   */
  forget(share: number): void {
    const { covariance } = this.#prior
    for (let i = 0; i < covariance.length; i++) {
      this.#covariance[i]! += share * (covariance[i]! - this.#covariance[i]!)
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
