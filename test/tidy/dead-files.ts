import type { Rule, TextFile } from './source-tree.ts'
import { importsOf, isTypeScript } from './source-tree.ts'

/** Files that are run as they are. */
const isRoot = ({ path }: TextFile): boolean =>
  path === 'src/main.ts' ||
  path.endsWith('.test.ts') ||
  /^(bench|scripts|test)\/[^/]+\.ts$/.test(path)

/** Every file is run, or imported by one that is; a path in a package script counts as run. */
export const deadFiles: Rule = (files) => {
  const sources = new Map(files.filter(isTypeScript).map((file) => [file.path, file]))
  const scripts = files.find(({ path }) => path === 'package.json')?.text ?? ''
  const open = [...sources.values()].filter((file) => isRoot(file) || scripts.includes(file.path))
  const reached = new Set(open.map(({ path }) => path))
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    for (const target of targetsOf(file)) {
      const next = sources.get(target)
      if (next === undefined || reached.has(target)) continue
      reached.add(target)
      open.push(next)
    }
  }
  return [...sources.keys()]
    .filter((path) => !reached.has(path))
    .map((path) => ({ path, line: 1, message: 'nothing imports or runs this file' }))
}

/** Imports, and files named by `new URL('./x.ts', import.meta.url)` for a worker or a child. */
function targetsOf(file: TextFile): string[] {
  const targets = importsOf(file).flatMap(({ target }) => (target === null ? [] : [target]))
  for (const [, relative] of file.text.matchAll(/new URL\('([^']+\.ts)', import\.meta\.url\)/g)) {
    targets.push(new URL(relative, `file:///${file.path}`).pathname.slice(1))
  }
  return targets
}
