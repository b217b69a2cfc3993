/** One thing that is wrong with a configuration, and where. */
export interface Problem {
  readonly source: 'flag' | 'env' | 'file'
  /** `warmpath.yaml:7:3`, `--port`, `WARMPATH_PORT`. */
  readonly where: string
  /** The option, with the path inside it: `endpoints[1].url`; empty for the file as a whole. */
  readonly key: string
  /** What is wrong and what would be valid. */
  readonly message: string
}

/** All of them, one a line, each a sentence that names place and remedy. */
export function renderProblems(problems: readonly Problem[]): string {
  return problems
    .map(({ source, where, key, message }) =>
      source === 'file' && key !== '' ? `${where}: ${key} ${message}` : `${where}: ${message}`,
    )
    .join('\n')
}

/** A value as it is quoted in a message: short, and on one line. */
export function quoteValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length <= 60 ? json : `${json.slice(0, 57)}…`
}
