import type { Command } from 'commander'
import { createProgram } from '../../src/commands/program.ts'

const head = `# Command line

Data goes to stdout, logs and messages go to stderr. The exit status is listed
[with the errors](errors.md#exit-status-of-commands).
`

/** `docs/reference/cli.md`: what \`--help\` prints, for each command. */
export function cliPage(): string {
  const program = createProgram()
  const sections = withSubcommands(program).map((command) => {
    return `## ${pathOf(command)}\n\n\`\`\`text\n${helpOf(command).trimEnd()}\n\`\`\``
  })
  return `${[head, ...sections].join('\n\n').replaceAll('\n\n\n', '\n\n')}\n`
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}

/** `warmpath lab goal` */
function pathOf(command: Command): string {
  const { parent } = command
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
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
