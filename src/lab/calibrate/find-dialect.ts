/** How this engine wants to be asked: found out by asking. */
import { CalibrationProblem } from './calibration-problem.ts'
import { CallFailed, type EngineUnderTest } from './engine-under-test.ts'
import type { Dialect } from './http-engine.ts'
import type { UniqueText } from './unique-text.ts'

const dialects: readonly Dialect[] = [
  { api: 'chat', ignoreEos: true },
  { api: 'chat', ignoreEos: false },
  { api: 'completions', ignoreEos: true },
  { api: 'completions', ignoreEos: false },
]
const tryTokens = { prompt: 512, output: 8 } as const

/**
 * Tries small requests, and warms the engine up with the one that it takes.
 * @throws CalibrationProblem with the engine's own words where it takes none
 */
export async function findDialect(
  engineFor: (dialect: Dialect) => EngineUnderTest,
  text: UniqueText,
): Promise<EngineUnderTest> {
  let refusal = ''
  for (const dialect of dialects) {
    const engine = engineFor(dialect)
    try {
      for (let i = 0; i < 2; i++) {
        const prompt = text.next(tryTokens.prompt)
        const sample = await engine.call({ prompt, outputTokens: tryTokens.output })
        text.counted(prompt, sample.promptTokens)
      }
      return engine
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error
      refusal ||= error.message
      // Another form may be understood; a fault or a lack of rights stays what it is.
      const misunderstood = error.status !== null && [400, 404, 405, 422].includes(error.status)
      if (!misunderstood) break
    }
  }
  throw new CalibrationProblem('unavailable', refusal)
}
