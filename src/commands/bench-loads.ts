import { InvalidArgumentError } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { ArrivalKind } from '../lab/bench/arrivals.ts'
import { sweepRates } from '../lab/bench/knee.ts'
import type { StageLoad } from '../lab/bench/stage-load.ts'
import { CommandFailure } from './command-failure.ts'
import { numberArgument } from './number-argument.ts'

export interface LoadOptions {
  readonly rate?: readonly number[]
  readonly sweep?: Sweep
  readonly concurrency?: readonly number[]
  readonly agents?: number
  readonly arrivals: ArrivalKind
}

export interface Sweep {
  readonly from: number
  readonly to: number
  readonly steps: number
}

const rateMax = 100_000

/** Reads a flag's list: `1,2,4`. */
export function listArgument(
  max: number,
  fraction: 'whole' | 'fraction',
): (text: string) => number[] {
  const one = numberArgument(fraction === 'whole' ? 1 : 0.001, max, fraction)
  return (text) => text.split(',').map(one)
}

/** Reads `from:to`, or `from:to:steps`. */
export function sweepArgument(text: string): Sweep {
  const match = /^([\d.]+):([\d.]+)(?::(\d+))?$/.exec(text)
  const [from, to, steps] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3] ?? 6)]
  if (!(from > 0 && to > from && to <= rateMax && steps >= 2 && steps <= 50)) {
    throw new InvalidArgumentError(
      'It takes two rates in requests/s, the lower first, and how many steps: 1:32, or 1:32:6.',
    )
  }
  return { from, to, steps }
}

/** The loads that the flags ask for; eight calls at once where they ask for none. */
export function loadsOf(options: LoadOptions): StageLoad[] {
  const { rate, sweep, concurrency, agents, arrivals } = options
  const given = Object.entries({ rate, sweep, concurrency, agents })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `--${name}`)
  if (given.length > 1) {
    throw new CommandFailure(exitCodes.usage, `${given.join(' and ')}: only one of them can be`)
  }
  const rates = sweep === undefined ? rate : sweepRates(sweep.from, sweep.to, sweep.steps)
  if (rates !== undefined) {
    return rates.map((perSecond) => ({ kind: 'rate', perSecond, arrivals }))
  }
  const counts = agents === undefined ? (concurrency ?? [8]) : [agents]
  return counts.map((count) => ({ kind: 'at-once', count }))
}
