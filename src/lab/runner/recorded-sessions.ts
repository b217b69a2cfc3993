/** Recorded sessions from a file as the workload of a job. */
import { type Random, randomInt, seededRandom } from '../../base/random.ts'
import { readPackedLines } from '../../io/read-packed-lines.ts'
import { optionValues } from '../option-values.ts'
import { type CompactSession, compactWorkload } from '../workload/compact-sessions.ts'
import type { Workload } from '../workload/session.ts'

const defaults = {
  file: '',
  sessions: 120,
  /** Open at once; the next begins when one ends. */
  atOnce: 64,
  turnsMin: 10,
  turnsMax: 120,
  promptTokensMax: 200_000,
  gapMsMax: 60_000,
}

/** What a workload of recorded sessions begins with: `recorded,file=sessions.jsonl.gz`. */
export const recordedName = 'recorded'

/** The lines of a file are read once, whatever is made of them. */
const files = new Map<string, readonly CompactSession[]>()

/**
 * A choice of the sessions in a file of the compact format, packed with gzip: another one, in
 * another order, for each seed.
 * @param text `recorded,file=…` with options
 * @throws RangeError that says what would be valid
 */
export function recordedWorkload(text: string, seed: number): Workload {
  const { file, sessions, atOnce, turnsMin, turnsMax, promptTokensMax, gapMsMax } = optionValues(
    text.split(',').slice(1),
    defaults,
    recordedName,
  )
  const fitting = sessionsIn(file).filter(
    ({ r }) =>
      r.length >= turnsMin &&
      r.length <= turnsMax &&
      r.every(([tokens]) => tokens <= promptTokensMax),
  )
  const chosen = shuffled(fitting, seededRandom(seed)).slice(0, sessions)
  return { ...compactWorkload(chosen, { gapMsMax }, seed), sessionsAtOnce: atOnce }
}

function sessionsIn(file: string): readonly CompactSession[] {
  const known = files.get(file)
  if (known !== undefined) return known
  const read = readPackedLines(file).map((line, i) => sessionOf(line, `${file}:${i + 1}`))
  files.set(file, read)
  return read
}

function sessionOf(line: string, where: string): CompactSession {
  const { id, pre, r } = JSON.parse(line) as Partial<CompactSession>
  const fits =
    typeof id === 'string' &&
    typeof pre === 'number' &&
    Array.isArray(r) &&
    r.every((one) => Array.isArray(one) && one.length === 6 && one.every(Number.isFinite))
  if (fits) return { id, pre, r }
  throw new RangeError(`${where} is no session: id, pre, and r with six numbers for each request`)
}

function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  const order = [...values]
  for (let i = order.length - 1; i > 0; i--) {
    const j = randomInt(random, i + 1)
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}
