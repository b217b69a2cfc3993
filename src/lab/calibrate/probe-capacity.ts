/** How much an engine's prefix cache holds, found by filling it: for engines that do not say. */
import type { CallSample, EngineUnderTest } from './engine-under-test.ts'
import type { UniqueText } from './unique-text.ts'

export interface CapacityProbe {
  readonly engine: EngineUnderTest
  readonly text: UniqueText
  /** Longest prompt. */
  readonly promptTokensMax: number
  /** Filling ends here, whatever is found. */
  readonly tokensMax: number
  /** Whether a call found most of its prompt cached. */
  readonly wasCached: (sample: CallSample) => boolean
  /** Whether there is time for more. */
  readonly mayGoOn: () => boolean
  readonly onFilled?: (tokens: number) => void
}

export interface ProbedCapacity {
  readonly tokens: number
  /** The capacity is within so much of it; or above it, where nothing was pushed out. */
  readonly error: number
  readonly atLeast: boolean
}

interface Held {
  readonly prompt: string
  readonly tokens: number
}

/** Each prompt adds so much of what is there, so that the steps keep their relative size. */
const growth = 1 / 16
const firstTokens = 1_024
const edgeShare = 0.01

/**
 * Adds prompts until the one that was used longest ago is gone; then goes back from the newest as
 * long as they are still there. It pushes out of the cache whatever else was in it.
 */
export async function probeCapacity(probe: CapacityProbe): Promise<ProbedCapacity> {
  const { text, engine } = probe
  const held: Held[] = []
  let total = 0
  let checkedTotal = 0
  for (;;) {
    const wanted = Math.min(probe.promptTokensMax, Math.max(firstTokens, total * growth))
    const prompt = text.next(wanted)
    const { promptTokens } = await engine.call({ prompt, outputTokens: 1 })
    held.push({ prompt, tokens: promptTokens })
    total += promptTokens
    probe.onFilled?.(total)
    const last = total >= probe.tokensMax || !probe.mayGoOn()
    if (!last && total < checkedTotal * (1 + growth)) continue
    checkedTotal = total
    const oldest = held.shift() as Held
    held.push(oldest)
    if (!(await isHeld(probe, oldest))) return stillHeld(probe, held)
    if (last) return { tokens: total, error: 0, atLeast: true }
  }
}

/** The last of the list was just computed anew, and took the place of others. */
async function stillHeld(probe: CapacityProbe, held: readonly Held[]): Promise<ProbedCapacity> {
  let tokens = 0
  for (const one of held.toReversed()) {
    if (tokens > 0 && !(await isHeld(probe, one))) {
      // Those at the edge may be there in part.
      return { tokens: Math.round(tokens), error: one.tokens + tokens * edgeShare, atLeast: false }
    }
    tokens += one.tokens
  }
  return { tokens, error: held[0].tokens, atLeast: false }
}

async function isHeld({ engine, wasCached }: CapacityProbe, { prompt }: Held): Promise<boolean> {
  return wasCached(await engine.call({ prompt, outputTokens: 1 }))
}
