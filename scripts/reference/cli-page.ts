import type { Command } from 'commander'
import { createProgram } from '../../src/commands/program.ts'

const head = `# Command line

Data goes to stdout, logs and messages go to stderr. The exit status is listed
[with the errors](errors.md#exit-status-of-commands).
`

/** `docs/reference/cli.md`: what \`--help\` prints, for each command. */
export function cliPage(): string {
  const program = createProgram()
  const sections = [program, ...program.commands].map((command) => {
    const name = command === program ? 'warmpath' : `warmpath ${command.name()}`
    return `## ${name}\n\n\`\`\`text\n${helpOf(command).trimEnd()}\n\`\`\``
  })
  return `${[head, ...sections].join('\n\n').replaceAll('\n\n\n', '\n\n')}\n`
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (piece) => {
      text += piece
    },
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text
}
