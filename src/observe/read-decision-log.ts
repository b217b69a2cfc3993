import { ChainBases } from './chain-text.ts'
import type {
  DecisionLine,
  DecisionLogLine,
  DecisionLogRecord,
  DecisionRecord,
} from './decision-record.ts'
import { decisionLogVersion } from './decision-record.ts'

export interface BadLine {
  readonly file: string
  /** 1 for the first. */
  readonly line: number
  readonly problem: string
}

/** Bad lines that are kept with their problem; all are counted. */
const problemsMax = 100

type FieldKind = 'string' | 'number' | 'boolean' | 'string?' | 'number?' | 'object' | 'object?'
type FieldKinds = Readonly<Record<string, FieldKind>>

const requiredFields: Readonly<Record<DecisionLogLine['type'], FieldKinds>> = {
  header: { version: 'number', startedAt: 'string', startedAtMs: 'number', blockBytes: 'number' },
  endpoint: { atMs: 'number', endpoint: 'string', present: 'boolean', description: 'object' },
  decision: {
    id: 'string',
    atMs: 'number',
    arrivedAtMs: 'number',
    decision: 'string',
    attempt: 'number',
    model: 'string?',
    tenant: 'string',
    class: 'string',
    session: 'string?',
    promptBytes: 'number',
    promptTokens: 'number?',
    maxOutputTokens: 'number?',
    streaming: 'boolean',
    endpoint: 'string?',
    predictedTtftMs: 'number?',
    candidates: 'object',
    chain: 'object?',
  },
  outcome: {
    id: 'string',
    atMs: 'number',
    endpoint: 'string',
    outcome: 'string',
    ttftMs: 'number?',
    e2eMs: 'number',
    promptTokens: 'number?',
    outputTokens: 'number?',
    cachedTokens: 'number?',
  },
}

/**
 * Reads a decision log line by line. Bad lines are kept with file and line and counted, never
 * silently dropped.
 * @throws from `read`, when the file was written by a newer version that this one would misread
 */
export class DecisionLogReader {
  readonly #file: string
  readonly #bases = new ChainBases()
  readonly #problems: BadLine[] = []
  #lines = 0
  #badLines = 0
  #unknownRecords = 0
  #headed = false

  constructor(file: string) {
    this.#file = file
  }

  /** All that were read. */
  get lines(): number {
    return this.#lines
  }

  get badLines(): number {
    return this.#badLines
  }

  /** The first bad lines. */
  get problems(): readonly BadLine[] {
    return this.#problems
  }

  /** Lines of types that a later version added. */
  get unknownRecords(): number {
    return this.#unknownRecords
  }

  /** The record of the next line; null for an empty, bad or unknown one. */
  read(text: string): DecisionLogRecord | null {
    this.#lines++
    if (text.trim() === '') return null
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return this.#bad('not JSON (cut off, perhaps)')
    }
    if (typeof value !== 'object' || value === null) return this.#bad('not an object')
    const type = (value as { type?: unknown }).type
    if (typeof type !== 'string') return this.#bad("no 'type'")
    if (!Object.hasOwn(requiredFields, type)) {
      this.#unknownRecords++
      return null
    }
    const line = value as DecisionLogLine
    const problem = fieldProblem(line, requiredFields[line.type])
    return problem === null ? this.#known(line) : this.#bad(problem)
  }

  #known(line: DecisionLogLine): DecisionLogRecord | null {
    if (line.type === 'header') {
      if (line.version > decisionLogVersion) {
        throw new Error(
          `${this.#file}:${this.#lines}: decision log version ${line.version}; this program ` +
            `reads up to ${decisionLogVersion}`,
        )
      }
      this.#bases.clear()
      this.#headed = true
      return line
    }
    if (!this.#headed) return this.#bad('no header line before it')
    return line.type === 'decision' ? this.#decision(line) : line
  }

  #decision(line: DecisionLine): DecisionRecord | null {
    if (line.chain === null) return { ...line, chain: null }
    try {
      const chain = this.#bases.decode(line.session, line.chain)
      this.#bases.remember(line.session, line.id, chain)
      return { ...line, chain }
    } catch (error) {
      return this.#bad((error as Error).message)
    }
  }

  #bad(problem: string): null {
    this.#badLines++
    if (this.#problems.length < problemsMax) {
      this.#problems.push({ file: this.#file, line: this.#lines, problem })
    }
    return null
  }
}

function fieldProblem(line: object, kinds: FieldKinds): string | null {
  const fields = line as Readonly<Record<string, unknown>>
  for (const name in kinds) {
    const kind = kinds[name]!
    const value = fields[name]
    if (value === null && kind.endsWith('?')) continue
    const wanted = kind.replace('?', '')
    if (typeof value !== wanted || value === null) return `'${name}' is not a ${wanted}`
  }
  return null
}
