/**
 * Seeded random numbers. The core never draws from a global source, so that one seed reproduces a
 * whole run to the byte.
 */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number
}

/** sfc32 (PractRand's small fast counting generator, 128 bits of state), seeded by one number. */
export function seededRandom(seed: number): Random {
  let a = seed | 0
  let b = (seed / 4294967296) | 0
  let c = 0x9e3779b9 | 0
  let counter = 1
  const step = (): number => {
    const t = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  for (let i = 0; i < 12; i++) step()
  return { next: () => step() / 4294967296 }
}

/** An integer in [0, below). */
export function randomInt(random: Random, below: number): number {
  return Math.floor(random.next() * below)
}

/** Exponential with the given mean (inter-arrival times of a Poisson process). */
export function randomExponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random.next())
}

/** Standard normal (Box-Muller, one of the pair). */
export function randomNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()))
  return radius * Math.cos(2 * Math.PI * random.next())
}
