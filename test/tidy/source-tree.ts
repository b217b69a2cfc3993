/** The repository's files, and a parsed view of its TypeScript. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Node } from 'oxc-parser'
import { parseSync, visitorKeys } from 'oxc-parser'

export interface TextFile {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
}

export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

export type Rule = (files: readonly TextFile[]) => Finding[]

export const repositoryRoot = join(import.meta.dirname, '../..')

const skippedFolders = new Set(['node_modules', '.git', 'dist', 'coverage'])
const readExtensions = /\.(ts|md|json|sh|yaml|html|css|js)$/

/** Every file that a rule may look at. */
export function readRepository(root = repositoryRoot): TextFile[] {
  const files: TextFile[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name)) visit(path)
      } else if (readExtensions.test(entry.name)) {
        files.push({ path, text: readFileSync(join(root, path), 'utf8') })
      }
    }
  }
  visit('')
  return files
}

export const isTypeScript = (file: TextFile): boolean => file.path.endsWith('.ts')
export const isTest = (path: string): boolean =>
  /\.(test|conformance)\.ts$/.test(path) || path.startsWith('test/')
export const isProduction = (file: TextFile): boolean =>
  file.path.startsWith('src/') && isTypeScript(file) && !isTest(file.path)

export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Calls `visit` for every node, parents first. `ancestors` ends with the parent. */
export function walk(
  file: TextFile,
  visit: (node: Node, ancestors: readonly Node[]) => void,
): void {
  const ancestors: Node[] = []
  const step = (node: Node): void => {
    visit(node, ancestors)
    ancestors.push(node)
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, unknown>)[key]
      for (const each of Array.isArray(child) ? child : [child]) {
        if (each !== null && typeof each === 'object' && 'type' in each) step(each as Node)
      }
    }
    ancestors.pop()
  }
  step(programOf(file))
}

const programs = new WeakMap<TextFile, Node>()

function programOf(file: TextFile): Node {
  let program = programs.get(file)
  if (program === undefined) {
    const parsed = parseSync(file.path, file.text)
    if (parsed.errors.length > 0) throw new Error(`${file.path}: ${parsed.errors[0].message}`)
    program = parsed.program
    programs.set(file, program)
  }
  return program
}

export interface Import {
  /** As written: `./x.ts`, `node:fs`, `zod`. */
  readonly specifier: string
  /** The file in the repository; null for a package or a `node:` module. */
  readonly target: string | null
  readonly typeOnly: boolean
  readonly line: number
}

/** Static, dynamic and type imports, and re-exports. */
export function importsOf(file: TextFile): Import[] {
  const imports: Import[] = []
  walk(file, (node) => {
    const source = sourceOf(node)
    if (source === null) return
    const relative = source.startsWith('.')
    imports.push({
      specifier: source,
      target: relative ? posix.join(posix.dirname(file.path), source) : null,
      typeOnly: isTypeOnly(node),
      line: lineAt(file.text, node.start),
    })
  })
  return imports
}

function sourceOf(node: Node): string | null {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return node.source.value
    case 'ExportNamedDeclaration':
      return node.source?.value ?? null
    case 'TSImportType':
      return node.source.value
    case 'ImportExpression':
      return node.source.type === 'Literal' ? String(node.source.value) : null
    default:
      return null
  }
}

function isTypeOnly(node: Node): boolean {
  if (node.type === 'ImportDeclaration') return node.importKind === 'type'
  if (node.type === 'ExportNamedDeclaration' || node.type === 'ExportAllDeclaration') {
    return node.exportKind === 'type'
  }
  return node.type === 'TSImportType'
}

/** Findings as the lines of an assertion's message. */
export function renderFindings(findings: readonly Finding[]): string {
  return findings.map(({ path, line, message }) => `${path}:${line}: ${message}`).join('\n')
}
