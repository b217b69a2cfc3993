import type { Config } from '../../config/config.ts'
import { type ConfigChanges, configChanges } from '../../config/config-changes.ts'
import type { ConfigStatus } from '../../observe/status.ts'

/** The configuration in force, and what became of later versions of its file. */
export class LiveConfig {
  /** Always the values in force: whoever holds this object sees them change. */
  readonly config: Config
  readonly #config: { -readonly [Name in keyof Config]: Config[Name] }
  #applied = 0
  #refused = 0
  #problem: string | null = null
  #needRestart: readonly string[] = []

  constructor(config: Config) {
    this.#config = { ...config }
    this.config = this.#config
  }

  get status(): ConfigStatus {
    return {
      reloads: { applied: this.#applied, refused: this.#refused },
      problem: this.#problem,
      needRestart: this.#needRestart,
    }
  }

  take(wanted: Config): ConfigChanges {
    const changes = configChanges(this.#config, wanted)
    Object.assign(this.#config, changes.config)
    this.#applied++
    this.#problem = null
    this.#needRestart = changes.needRestart
    return changes
  }

  /** The file is wrong: what was in force stays. */
  refuse(problem: string): void {
    this.#refused++
    this.#problem = problem
  }
}
