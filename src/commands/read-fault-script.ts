import { z } from 'zod'
import { exitCodes } from '../base/exit-codes.ts'
import { readTextFile } from '../io/read-text-file.ts'
import type { FaultStep } from '../lab/emulator/faults.ts'
import { faultStepSchema } from '../lab/emulator/faults.ts'
import { CommandFailure } from './command-failure.ts'

/** A script of faults from a JSON file. A wrong one fails the command with every place named. */
export function readFaultScript(path: string): readonly FaultStep[] {
  const file = readTextFile(path)
  if (!file.ok) throw wrong(`${path}: cannot be read: ${file.reason}`)
  let json: unknown
  try {
    json = JSON.parse(file.text)
  } catch (error) {
    throw wrong(`${path}: not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const parsed = z.array(faultStepSchema).safeParse(json)
  if (parsed.success) return parsed.data
  throw wrong(
    parsed.error.issues
      .map((issue) => `${path}: ${z.core.toDotPath(issue.path) || 'the whole'}: ${issue.message}`)
      .join('\n'),
  )
}

const wrong = (message: string): CommandFailure => new CommandFailure(exitCodes.config, message)
