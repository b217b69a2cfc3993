import type { NamedOption } from '../../src/config/config.ts'
import { namedOptions } from '../../src/config/config.ts'
import { endpointSpecKeys } from '../../src/config/endpoint-spec.ts'

const head = `# Options

Every option can be given as a flag, in the environment, or in a YAML file that \`--config\` (or
\`WARMPATH_CONFIG\`) names. A flag wins over the environment, the environment over the file, the
file over the default. Nothing is read from a file that was not named.

Durations and sizes carry their unit: \`500ms\`, \`30s\`, \`64KiB\`, \`32MiB\`; \`0\` needs none. In
the environment and in flags, lists are separated by commas, and maps are written \`a=b,c=d\`. A
mistake ends the start with exit status 78 (64 for a flag), and every mistake is named with its
place. While the router runs, it reads the file again when it changes, and on SIGHUP; a file with a
mistake then changes nothing.

\`\`\`yaml
# warmpath.yaml
endpoints:
  - http://gpu1:8000
  - url: http://gpu2:8000
    kvCapacityTokens: 400000
aliases: { gpt-4o: Qwen/Qwen3-32B }
drainTimeout: 60s
\`\`\`
`

/** `docs/reference/options.md`, from the option table. */
export function optionsPage(): string {
  const groups = Map.groupBy(namedOptions, ({ option }) => option.group)
  const sections = [...groups].map(([group, options]) =>
    [`## ${group}`, ...options.map(optionSection)].join('\n\n'),
  )
  return `${[head.trimEnd(), ...sections].join('\n\n')}\n`
}

function optionSection({ key, flag, env, option }: NamedOption): string {
  const inside = key === 'endpoints' ? `Keys of a map: ${codeList(endpointSpecKeys)}.` : null
  const given = key === 'endpoints' ? 'arguments of `serve` and `check`' : `\`${flag}\``
  return [
    `### \`${key}\``,
    `${option.summary}.`,
    option.detail ?? null,
    inside,
    [
      `- Value: ${option.expects}`,
      `- Default: \`${option.toText(option.default)}\``,
      `- Flag: ${given}${option.placeholder === '' ? `, \`--no-${flag.slice(2)}\`` : ''}`,
      `- Environment: \`${env}\``,
      `- File: \`${key}: ${option.example}\``,
      `- A change: ${option.needsRestart ? 'waits for a restart' : 'counts while running'}`,
    ].join('\n'),
  ]
    .filter((part) => part !== null)
    .join('\n\n')
}

const codeList = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ')
