import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../config/units.ts'

/** Reads a flag's duration, `30s` or `500ms`, as milliseconds. */
export function durationArgument(minMs: number, maxMs: number): (text: string) => number {
  return (text) => {
    const ms = parseDurationMs(text)
    if (ms !== null && ms >= minMs && ms <= maxMs) return ms
    throw new InvalidArgumentError(
      `It takes a time such as 500ms, 30s or 2m, from ${minMs} ms to ${maxMs / 60_000} min.`,
    )
  }
}
