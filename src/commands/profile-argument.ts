import { exitCodes } from '../base/exit-codes.ts'
import { renderProblems } from '../config/problem.ts'
import { readTextFile } from '../io/read-text-file.ts'
import type { EngineProfile } from '../lab/engine/profile.ts'
import { readProfileFile } from '../lab/engine/profile-file.ts'
import { profileNamed, profileNames } from '../lab/engine/profiles.ts'
import { CommandFailure } from './command-failure.ts'

/** The profile of that name, or in that file. `flag` says where it was asked for. */
export function profileArgument(nameOrFile: string, flag = '--profile'): EngineProfile {
  if (profileNames.includes(nameOrFile)) return profileNamed(nameOrFile)
  const file = readTextFile(nameOrFile)
  if (!file.ok) {
    throw new CommandFailure(
      exitCodes.usage,
      `${flag}: no profile and no file "${nameOrFile}" (${file.reason}); ` +
        `the profiles are ${profileNames.join(', ')}`,
    )
  }
  const read = readProfileFile(nameOrFile, file.text)
  if (read.ok) return read.profile
  throw new CommandFailure(exitCodes.config, renderProblems(read.problems))
}
