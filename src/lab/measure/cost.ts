import type { Stay } from '../simulator/fleet-side.ts'
import type { SimulatedRequest, SimulatedSession } from '../simulator/request-record.ts'
import { sumOf } from './spread.ts'

const hourMs = 3_600_000

/** Rent of the fleet, in dollars, or whatever the profiles' prices are in. */
export interface Cost {
  readonly total: number
  /** Per session that was completed; null where none was. */
  readonly perTask: number | null
  /** Per million tokens, prompts and answers, of requests that were answered; null without. */
  readonly perMillionTokens: number | null
}

/** An endpoint costs from when it joins until it leaves, also while it is down. */
export function costOf(
  stays: readonly Stay[],
  endMs: number,
  sessions: readonly SimulatedSession[],
  requests: readonly SimulatedRequest[],
): Cost {
  const total = sumOf(
    stays.map(({ member, fromMs, untilMs }) => {
      const hours = ((untilMs ?? endMs) - fromMs) / hourMs
      return hours * member.profile.pricePerHour
    }),
  )
  const completed = sessions.filter((session) => session.completed).length
  const answered = requests.filter(({ outcome }) => outcome === 'done')
  const tokens = sumOf(answered.map((one) => one.promptTokens + one.outputTokens))
  return {
    total,
    perTask: completed > 0 ? total / completed : null,
    perMillionTokens: tokens > 0 ? total / (tokens / 1e6) : null,
  }
}
