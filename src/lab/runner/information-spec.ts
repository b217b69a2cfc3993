import { parseDurationMs } from '../../config/units.ts'
import type { Information } from '../simulator/information.ts'

/**
 * What a text says of the router's information: `perfect`, `approximate`, or `events:100ms:1%` for
 * engine events with a delay and a share that gets lost.
 * @throws RangeError that says what would be valid
 */
export function informationOf(text: string): Information {
  if (text === 'perfect' || text === 'approximate') return text
  const [, delay, lost] = /^events:([^:]+):(\d+(?:\.\d+)?)%$/.exec(text) ?? []
  const delayMs = parseDurationMs(delay ?? '')
  if (delayMs === null || !(Number(lost) <= 100)) {
    throw new RangeError(
      `information is perfect, approximate or such as events:100ms:1%, not "${text}"`,
    )
  }
  return { delayMs, lossShare: Number(lost) / 100 }
}
