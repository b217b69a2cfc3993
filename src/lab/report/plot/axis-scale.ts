import { scaleLinear, scaleLog } from 'd3-scale'
import { compactText } from '../number-text.ts'
import type { Axis } from '../plot-spec.ts'

/** From a value, in the units of the data, to a coordinate. */
export interface AxisScale {
  readonly label: string
  at(value: number): number
  /** The end where it starts, in the units of the data. */
  readonly low: number
  /** Whether it has a place on the axis: a log axis has none for 0. */
  holds(value: number): boolean
  readonly ticks: readonly Tick[]
}

export interface Tick {
  readonly at: number
  /** Empty where only the grid line is wanted. */
  readonly text: string
}

/**
 * @param values what the axis must hold
 * @param range coordinates of its ends
 * @param tickCount about how many
 */
export function axisScale(
  axis: Axis,
  values: Iterable<number>,
  range: readonly [number, number],
  tickCount = 6,
): AxisScale {
  const { factor = 1, label } = axis
  const [low, high] = domainOf(axis, values)
  const domain = [low * factor, high * factor]
  const log = axis.scale === 'log'
  const scale = log ? scaleLog(domain, range) : scaleLinear(domain, range)
  if (log)
    scale.domain([
      axis.from === undefined ? roundLog(domain[0]!, -1) : domain[0]!,
      axis.to === undefined ? roundLog(domain[1]!, 1) : domain[1]!,
    ])
  else if (axis.from === undefined || axis.to === undefined) scale.nice(tickCount)
  const [start, end] = scale.domain() as [number, number]
  return {
    label,
    low: start / factor,
    at: (value) => scale(value * factor),
    holds: (value) => Number.isFinite(value) && (!log || value > 0),
    ticks: (log ? logTicks(start, end) : linearTicks(scale.ticks(tickCount))).map(
      ({ value, text }) => ({ at: scale(value), text }),
    ),
  }
}

function domainOf(axis: Axis, values: Iterable<number>): [number, number] {
  const log = axis.scale === 'log'
  let low = axis.from ?? (log ? Number.POSITIVE_INFINITY : 0)
  let high = axis.to ?? Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (!Number.isFinite(value) || (log && value <= 0)) continue
    if (axis.from === undefined && value < low) low = value
    if (axis.to === undefined && value > high) high = value
  }
  // Nothing, or one value only: an axis around it.
  if (!Number.isFinite(low) || low > high) low = log ? 1 : 0
  if (!(high > low)) high = log ? low * 10 : low + (Math.abs(low) || 1)
  return [low, high]
}

/** To the next 1, 2 or 5 times a power of ten, outward: a whole decade more would be empty. */
function roundLog(value: number, outward: 1 | -1): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const steps = [1, 2, 5, 10].map((step) => step * power)
  const slack = 1 - outward * 1e-9
  return outward > 0
    ? steps.find((step) => step >= value * slack)!
    : steps.findLast((step) => step <= value * slack)!
}

interface TickValue {
  readonly value: number
  readonly text: string
}

function linearTicks(values: readonly number[]): TickValue[] {
  return values.map((value) => ({ value, text: compactText(value) }))
}

/** Powers of ten have a text; over few decades 2 and 5 have one too. */
function logTicks(start: number, end: number): TickValue[] {
  const ticks: TickValue[] = []
  const decades = Math.log10(end / start)
  const named = decades <= 1.2 ? [1, 2, 3, 5, 7] : decades <= 3 ? [1, 2, 5] : [1]
  const every = Math.max(1, Math.ceil(decades / 8))
  const slack = 1e-9
  for (let power = Math.floor(Math.log10(start)); power <= Math.log10(end) + slack; power++) {
    for (let step = 1; step <= 9; step++) {
      const value = step * 10 ** power
      if (value < start * (1 - slack) || value > end * (1 + slack)) continue
      if (step > 1 && decades > 5) continue
      const text = named.includes(step) && power % every === 0 ? compactText(value) : ''
      ticks.push({ value, text })
    }
  }
  return ticks
}
