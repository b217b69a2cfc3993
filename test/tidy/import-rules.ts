/** Which part of the source may know which. */
import type { Finding, Rule, TextFile } from './source-tree.ts'
import { importsOf, isProduction, isTest } from './source-tree.ts'

/** Lower layers first; a file imports from its own layer and from those before it. */
const layers: readonly (readonly string[])[] = [
  ['base'],
  ['core'],
  ['protocol', 'config', 'observe'],
  ['io'],
  ['sources'],
  ['drivers', 'lab'],
  ['commands'],
  ['main.ts'],
]

function layerOf(path: string): number {
  const part = path.split('/')[1]
  return layers.findIndex((names) => names.includes(part))
}

/** Imports run one way through the layers, and production code knows no tests. */
export const importDirection: Rule = (files) =>
  eachImport(files, (file, target) => {
    if (!target.startsWith('src/')) {
      return target.endsWith('/package.json') || target === 'package.json'
        ? null
        : `imports ${target}: production code stays within src/`
    }
    if (isTest(target)) return `imports the test ${target}`
    const from = layerOf(file.path)
    const to = layerOf(target)
    if (from < 0) return 'stands in no known layer of src/'
    return to > from ? `imports ${target}: imports run from later layers to earlier ones` : null
  })

/** Drivers are alternatives to one another, and the lab is no part of them. */
export const driversApart: Rule = (files) =>
  eachImport(files, (file, target) => {
    const [, layer, driver] = file.path.split('/')
    if (layer !== 'drivers') return null
    const [, targetLayer, targetDriver] = target.split('/')
    if (targetLayer === 'lab') return `imports ${target}: a driver knows nothing of the lab`
    return targetLayer === 'drivers' && targetDriver !== driver
      ? `imports ${target}: drivers do not import one another`
      : null
  })

/** The core and its base are pure: they run in any driver, and in virtual time. */
export const pureCore: Rule = (files) =>
  files
    .filter((file) => isProduction(file) && /^src\/(core|base)\//.test(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ target }) => target === null)
        .map(({ specifier, line }) => ({
          path: file.path,
          line,
          message: `imports ${specifier}: core and base import no package and no node: module`,
        })),
    )

/** What runs in virtual time reaches neither sockets nor the wall clock, however indirectly. */
export const virtualTime: Rule = (files) => {
  const graph = graphOf(files)
  const findings: Finding[] = []
  for (const path of graph.keys()) {
    if (!/^src\/lab\/(simulator|engine)\//.test(path)) continue
    const chain = findPath(graph, path, (target) => /^src\/(io|sources)\//.test(target))
    if (chain !== null) {
      const message = `reaches ${chain.join(' → ')}: it must run in virtual time`
      findings.push({ path, line: 1, message })
    }
  }
  return findings
}

/** Modules that import each other can be neither read nor tested alone; types count too. */
export const noCircles: Rule = (files) => {
  const graph = graphOf(files)
  const findings: Finding[] = []
  for (const path of graph.keys()) {
    const circle = findPath(graph, path, (target) => target === path)
    if (circle?.every((step) => step >= path)) {
      findings.push({ path, line: 1, message: `import circle: ${[path, ...circle].join(' → ')}` })
    }
  }
  return findings
}

function eachImport(
  files: readonly TextFile[],
  judge: (file: TextFile, target: string) => string | null,
): Finding[] {
  return files.filter(isProduction).flatMap((file) =>
    importsOf(file).flatMap(({ target, line }) => {
      const message = target === null ? null : judge(file, target)
      return message === null ? [] : [{ path: file.path, line, message }]
    }),
  )
}

function graphOf(files: readonly TextFile[]): Map<string, string[]> {
  return new Map(
    files
      .filter(isProduction)
      .map((file) => [
        file.path,
        importsOf(file).flatMap(({ target }) => (target === null ? [] : [target])),
      ]),
  )
}

/** The shortest way from a file, by its imports, to one that `matches`. */
function findPath(
  graph: ReadonlyMap<string, readonly string[]>,
  from: string,
  matches: (path: string) => boolean,
): string[] | null {
  const seen = new Set<string>()
  let paths: string[][] = [[]]
  while (paths.length > 0) {
    const longer: string[][] = []
    for (const path of paths) {
      for (const target of graph.get(path.at(-1) ?? from) ?? []) {
        if (matches(target)) return [...path, target]
        if (seen.has(target)) continue
        seen.add(target)
        longer.push([...path, target])
      }
    }
    paths = longer
  }
  return null
}
