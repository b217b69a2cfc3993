/** Names that may be used in some places only. */
import type { Node } from 'oxc-parser'
import type { Finding, Rule, TextFile } from './source-tree.ts'
import { importsOf, isProduction, lineAt, walk } from './source-tree.ts'

interface Ban {
  readonly names: readonly string[]
  readonly where: (path: string) => boolean
  readonly why: string
}

const outsideIo = (path: string): boolean => !path.startsWith('src/io/')

const bans: readonly Ban[] = [
  {
    names: [
      'Date.now',
      'performance.now',
      'process.hrtime',
      'Math.random',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'AbortSignal.timeout',
    ],
    where: outsideIo,
    why: 'time and randomness come in from outside; they start in src/io only',
  },
  {
    names: ['process', 'Buffer', 'console', 'fetch', 'globalThis', 'crypto'],
    where: (path) => /^src\/(core|base)\//.test(path),
    why: 'the core runs anywhere and does no I/O',
  },
  { names: ['console'], where: () => true, why: 'data goes to stdout, logs through the logger' },
]

const ioModules = ['fs', 'fs/promises', 'net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns']
  .concat('child_process', 'worker_threads', 'cluster', 'timers', 'timers/promises', 'perf_hooks')
  .map((name) => `node:${name}`)
  .concat('undici')

/** Production code uses no clock, timer or random source of its own. */
export const bannedNames: Rule = (files) => files.filter(isProduction).flatMap(bannedIn)

function bannedIn(file: TextFile): Finding[] {
  const findings: Finding[] = []
  const inForce = bans.filter((ban) => ban.where(file.path))
  walk(file, (node, ancestors) => {
    const name = usedName(node, ancestors)
    if (name === null) return
    const ban = inForce.find(({ names }) => names.includes(name))
    if (ban === undefined) return
    const line = lineAt(file.text, node.start)
    findings.push({ path: file.path, line, message: `uses ${name}: ${ban.why}` })
  })
  walk(file, (node) => {
    if (node.type !== 'NewExpression' || node.arguments.length > 0) return
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date') return
    if (!outsideIo(file.path)) return
    const line = lineAt(file.text, node.start)
    findings.push({ path: file.path, line, message: 'uses new Date(): take the time from outside' })
  })
  return findings
}

/** `a.b` where an object's member is read, `a` where a free name is; null for anything else. */
function usedName(node: Node, ancestors: readonly Node[]): string | null {
  if (node.type === 'MemberExpression') {
    const { object, property } = node
    if (object.type !== 'Identifier' || node.computed || property.type !== 'Identifier') return null
    return `${object.name}.${property.name}`
  }
  if (node.type !== 'Identifier') return null
  const parent = ancestors.at(-1)
  if (parent === undefined) return null
  if (parent.type === 'MemberExpression' && parent.property === node) return null
  if (isDeclaredName(parent, node) || parent.type.startsWith('TS')) return null
  return node.name
}

function isDeclaredName(parent: Node, node: Node): boolean {
  return 'key' in parent && parent.key === node && !('shorthand' in parent && parent.shorthand)
}

/** Sockets, files and threads are opened in `io/`; types of them may be named anywhere. */
export const ioAtHome: Rule = (files) =>
  files
    .filter((file) => isProduction(file) && outsideIo(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier, typeOnly }) => !typeOnly && ioModules.includes(specifier))
        .map(({ specifier, line }) => ({
          path: file.path,
          line,
          message: `imports ${specifier}: sockets, files, timers and threads live in src/io`,
        })),
    )
