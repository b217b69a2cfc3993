import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../config/units.ts'
import type { BenchSlo } from '../lab/bench/bench-slo.ts'

const keys = { ttft: 'ttftMs', tpot: 'tpotMs', e2e: 'e2eMs' } as const

/** Reads objectives: `ttft=2s,tpot=60ms,e2e=30s`; what is not named is not asked for. */
export function sloArgument(text: string): BenchSlo {
  const slo = { ttftMs: null, tpotMs: null, e2eMs: null } as Record<keyof BenchSlo, number | null>
  for (const part of text.split(',')) {
    const [key = '', value = ''] = part.split('=')
    const ms = parseDurationMs(value)
    if (!Object.hasOwn(keys, key) || ms === null || ms === 0) {
      throw new InvalidArgumentError(
        `'${part}' is no objective: it takes ttft, tpot and e2e with times, as ttft=2s,tpot=60ms.`,
      )
    }
    slo[keys[key as keyof typeof keys]] = ms
  }
  return slo
}
