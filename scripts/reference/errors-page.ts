import type { ErrorEntry } from '../../src/base/errors.ts'
import { errorCatalogue } from '../../src/base/errors.ts'
import { exitCodes } from '../../src/base/exit-codes.ts'

const head = `# Errors

An error that the router itself answers has the shape that the API's clients know. For OpenAI:

\`\`\`json
{ "error": { "message": "…", "type": "rate_limit_error", "code": "overloaded", "param": null } }
\`\`\`

Anthropic's paths get Anthropic's shape. An engine's own error passes through untouched, so a code
that is not on this page came from the engine. After the headers of a stream went out, the error
comes as an event of the stream, and the connection is closed uncleanly behind it.

\`Retry\` says whether the same request may succeed later, unchanged; where the router knows when,
the answer carries \`Retry-After\`.
`

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'Done, and nothing was wrong.',
  failed: 'The command worked, and what it looked at is not well: an endpoint cannot be used, say.',
  usage: 'The command line is wrong.',
  notFound: 'What was asked for does not exist, such as a request id.',
  unavailable: 'A service that the command needs cannot be reached.',
  internal: 'A fault of the program.',
  config: 'The configuration file or the environment is wrong.',
}

/** `docs/reference/errors.md`, from the error catalogue and the exit codes. */
export function errorsPage(): string {
  const rows = Object.entries<ErrorEntry>(errorCatalogue)
    .sort(([a, x], [b, y]) => x.status - y.status || a.localeCompare(b))
    .map(([code, { status, type, fault, retryable, meaning }]) =>
      tableRow([`\`${code}\``, status, `\`${type}\``, fault, retryable ? 'yes' : 'no', meaning]),
    )
  const exits = Object.entries(exitCodes).map(([name, code]) =>
    tableRow([code, exitMeanings[name as keyof typeof exitCodes]]),
  )
  return `${[
    head,
    '## Answers',
    '',
    tableRow(['Code', 'Status', 'Type', 'Fault of', 'Retry', 'Meaning']),
    tableRow(['---', '---', '---', '---', '---', '---']),
    ...rows,
    '',
    '## Exit status of commands',
    '',
    tableRow(['Status', 'Meaning']),
    tableRow(['---', '---']),
    ...exits,
  ].join('\n')}\n`
}

const tableRow = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
