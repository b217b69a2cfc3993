/** Pages that a newcomer can hold in the head. */
import { basename } from 'node:path/posix'
import type { Finding, Rule, TextFile } from './source-tree.ts'
import { isTest, isTypeScript, lineAt, walk } from './source-tree.ts'

const fileLinesMax = 400
const testFileLinesMax = 500
const functionLinesMax = 70
const columnsMax = 100

export const fileLength: Rule = (files) =>
  files.filter(isTypeScript).flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1
    const most = isTest(path) ? testFileLinesMax : fileLinesMax
    const message = `has ${lines} lines, more than ${most}`
    return lines > most ? [{ path, line: most + 1, message }] : []
  })

export const functionLength: Rule = (files) => files.filter(isTypeScript).flatMap(longFunctions)

function longFunctions(file: TextFile): Finding[] {
  const findings: Finding[] = []
  walk(file, (node, ancestors) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type))
      return
    // The body of a `describe` holds tests, as a file does.
    const parent = ancestors.at(-1)
    if (parent?.type === 'CallExpression' && parent.callee.type === 'Identifier') {
      if (/^(describe|suite)$/.test(parent.callee.name)) return
    }
    const line = lineAt(file.text, node.start)
    const lines = lineAt(file.text, node.end) - line + 1
    if (lines <= functionLinesMax) return
    const message = `a function of ${lines} lines, more than ${functionLinesMax}`
    findings.push({ path: file.path, line, message })
  })
  return findings
}

/** The formatter breaks code; comments are broken by hand, but not text that a test compares. */
export const lineLength: Rule = (files) =>
  files.filter(isTypeScript).flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => {
      if (line.length <= columnsMax || (isTest(path) && /['"`]/.test(line))) return []
      const message = `has ${line.length} columns, more than ${columnsMax}`
      return [{ path, line: i + 1, message }]
    }),
  )

/** One idea per file, named so that it can be found. */
export const fileNames: Rule = (files) =>
  files.filter(isTypeScript).flatMap(({ path }) => {
    const name = basename(path)
    if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*\.ts$/.test(name)) {
      return [{ path, line: 1, message: 'is not named in kebab-case' }]
    }
    return /^(index|utils?|helpers?|common|misc)\.ts$/.test(name)
      ? [{ path, line: 1, message: 'is named after no idea' }]
      : []
  })

/** Work that is left to do is an issue, not a comment. */
export const noPromises: Rule = (files) =>
  files.filter(isTypeScript).flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => {
      const word = /\b(TODO|FIXME|XXX|HACK)\b/.exec(line)?.[1]
      const message = `holds a ${word}`
      return word !== undefined && !path.startsWith('test/tidy')
        ? [{ path, line: i + 1, message }]
        : []
    }),
  )
