/**
 * The random numbers of `numpy.random.default_rng(seed)`: PCG64 seeded by a SeedSequence, normals
 * by the ziggurat. Load generators draw their lengths from it, so that with their published seeds
 * the very lengths of a published run can be drawn again.
 */

const mask32 = 0xffffffffn
const mask64 = (1n << 64n) - 1n
const mask128 = (1n << 128n) - 1n
const multiplier = 0x2360ed051fc65da44385df649fccf645n

export class NumpyGenerator {
  #state = 0n
  readonly #increment: bigint
  /** The upper half of a draw whose lower half was used. */
  #half: number | null = null

  /** @param seed 0 to 2³² − 1 */
  constructor(seed: number) {
    const [a, b, c, d] = seedWords(seed) as [bigint, bigint, bigint, bigint]
    this.#increment = ((((c << 64n) | d) << 1n) | 1n) & mask128
    this.#step()
    this.#state = (this.#state + ((a << 64n) | b)) & mask128
    this.#step()
  }

  /** Lognormal by its own mean and standard deviation, not those of its logarithm. */
  lognormal(mean: number, stdDev: number): number {
    const variance = Math.log(1 + (stdDev / mean) ** 2)
    return Math.exp(Math.log(mean) - variance / 2 + Math.sqrt(variance) * this.normal())
  }

  /** Standard normal. */
  normal(): number {
    for (;;) {
      const bits = this.#next()
      const layer = Number(bits & 0xffn)
      const sign = bits & 0x100n ? -1 : 1
      const size = Number((bits >> 9n) & 0xfffffffffffffn)
      const value = sign * size * ziggurat.widths[layer]!
      if (size < ziggurat.inside[layer]!) return value
      if (layer === 0) return this.#tail((bits >> 17n) & 1n ? -1 : 1)
      const [above, below] = [ziggurat.heights[layer - 1]!, ziggurat.heights[layer]!]
      if ((above - below) * this.#uniform() + below < Math.exp(-0.5 * value * value)) return value
    }
  }

  /** Draws as `integers(0, below, size=count)` does, and forgets them. */
  skipIntegers(count: number, below: number): void {
    const threshold = 2 ** 32 % below
    for (let i = 0; i < count; i++) {
      // Lemire's method: what falls into the uneven rest is drawn again.
      while (Number((BigInt(this.#next32()) * BigInt(below)) & mask32) < threshold) {}
    }
  }

  #tail(sign: number): number {
    for (;;) {
      const x = -Math.log1p(-this.#uniform()) / tailStart
      const y = -Math.log1p(-this.#uniform())
      if (y + y > x * x) return sign * (tailStart + x)
    }
  }

  #uniform(): number {
    return Number(this.#next() >> 11n) / 2 ** 53
  }

  #next32(): number {
    if (this.#half !== null) {
      const half = this.#half
      this.#half = null
      return half
    }
    const bits = this.#next()
    this.#half = Number(bits >> 32n)
    return Number(bits & mask32)
  }

  /** 64 bits: the halves of the state folded, and turned by its uppermost bits. */
  #next(): bigint {
    this.#step()
    const folded = (this.#state >> 64n) ^ (this.#state & mask64)
    const turn = this.#state >> 122n
    return ((folded >> turn) | (folded << ((64n - turn) & 63n))) & mask64
  }

  #step(): void {
    this.#state = (this.#state * multiplier + this.#increment) & mask128
  }
}

/** Four words of 64 bits out of a seed, as a SeedSequence spreads it. */
function seedWords(seed: number): bigint[] {
  let constant = 0x43b0d7e5
  const hash = (word: number): number => {
    const mixed = word ^ constant
    constant = Math.imul(constant, 0x931e8875)
    return folded(Math.imul(mixed, constant))
  }
  const pool = [seed, 0, 0, 0].map(hash)
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) {
      if (from === to) continue
      const right = Math.imul(hash(pool[from]!), 0x4973f715)
      pool[to] = folded(Math.imul(pool[to]!, 0xca01f9dd) - right)
    }
  }
  let out = 0x8b51f9dd
  const words = Array.from({ length: 8 }, (_, i) => {
    const mixed = pool[i % 4]! ^ out
    out = Math.imul(out, 0x58f38ded)
    return BigInt(folded(Math.imul(mixed, out)))
  })
  return [0, 2, 4, 6].map((i) => words[i]! | (words[i + 1]! << 32n))
}

function folded(word: number): number {
  return (word ^ (word >>> 16)) >>> 0
}

/** Where the lowest of the 256 layers ends, and the area of each. */
const tailStart = 3.6541528853610088
const layerArea = 0.00492867323399

/**
 * Marsaglia and Tsang's layers under exp(−x²/2), for draws of 52 bits: width of a layer per unit,
 * below which draw a point surely lies under the curve, and the curve's height.
 */
const ziggurat = ((): { widths: number[]; inside: number[]; heights: number[] } => {
  const height = (x: number): number => Math.exp(-0.5 * x * x)
  const ends = new Array<number>(256)
  ends[255] = tailStart
  for (let i = 254; i > 0; i--) {
    const above = ends[i + 1]!
    ends[i] = Math.sqrt(-2 * Math.log(layerArea / above + height(above)))
  }
  ends[0] = layerArea / height(tailStart)
  return {
    widths: ends.map((end) => end / 2 ** 52),
    inside: ends.map((end, i) => {
      if (i === 0) return (tailStart / end) * 2 ** 52
      return i === 1 ? 0 : (ends[i - 1]! / end) * 2 ** 52
    }),
    heights: ends.map((end, i) => (i === 0 ? 1 : height(end))),
  }
})()
