/** The paper: titles, links, and names of files and functions that exist. */
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Finding, Rule, TextFile } from './source-tree.ts'
import { isTypeScript, repositoryRoot, walk } from './source-tree.ts'

const isMarkdown = ({ path }: TextFile): boolean => path.endsWith('.md')

interface Line {
  readonly text: string
  readonly number: number
}

/** Lines outside of code blocks. */
function proseLines(file: TextFile): Line[] {
  let fenced = false
  return file.text.split('\n').flatMap((text, i) => {
    if (/^\s*(```|~~~)/.test(text)) {
      fenced = !fenced
      return []
    }
    return fenced ? [] : [{ text, number: i + 1 }]
  })
}

/** A page begins with its only title. */
export const oneTitle: Rule = (files) =>
  files.filter(isMarkdown).flatMap((file) => {
    const titles = proseLines(file).filter(({ text }) => /^# /.test(text))
    if (titles.length === 1 && file.text.startsWith('# ')) return []
    const line = titles[1]?.number ?? 1
    const message = `has ${titles.length} titles; a page begins with its only one`
    return [{ path: file.path, line, message }]
  })

/** Every relative link leads to a file, and its fragment to a heading there. */
export const linksResolve: Rule = (files) => files.filter(isMarkdown).flatMap(brokenLinks)

function brokenLinks(file: TextFile, _: number, pages: readonly TextFile[]): Finding[] {
  const findings: Finding[] = []
  for (const { text, number } of proseLines(file)) {
    const prose = text.replaceAll(/`[^`]*`/g, '')
    for (const [, target] of prose.matchAll(/\]\(([^)\s]+)[^)]*\)|<img[^>]* src="([^"]+)"/g)) {
      if (target === undefined || /^[a-z]+:/.test(target)) continue
      const problem = linkProblem(file.path, target, pages)
      if (problem !== null) findings.push({ path: file.path, line: number, message: problem })
    }
  }
  return findings
}

function linkProblem(from: string, target: string, pages: readonly TextFile[]): string | null {
  const [relative, fragment] = target.split('#')
  const path = relative === '' ? from : posix.join(posix.dirname(from), relative)
  const page = pages.find((each) => each.path === path)
  if (page === undefined && !existsSync(join(repositoryRoot, path))) {
    return `links to ${target}, which does not exist`
  }
  if (fragment === undefined || page === undefined) return null
  return slugsOf(page).includes(fragment) ? null : `links to ${target}: no such heading there`
}

function slugsOf(page: TextFile): string[] {
  return proseLines(page)
    .filter(({ text }) => /^#+ /.test(text))
    .map(({ text }) =>
      text
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    )
}

/** A file of the source that a page names, in code, exists. */
export const namedFilesExist: Rule = (files) =>
  files.filter(isMarkdown).flatMap((file) =>
    proseLines(file).flatMap(({ text, number }) =>
      [...text.matchAll(/`((?:src|test|bench|bin|deploy|docs|scripts)\/[^`\s*<>]+)`/g)]
        .filter(([, path]) => !exists(files, path.replace(/\/$/, '')))
        .map(([, path]) => ({
          path: file.path,
          line: number,
          message: `names ${path}, which does not exist`,
        })),
    ),
  )

function exists(files: readonly TextFile[], path: string): boolean {
  const held = files.some((each) => each.path === path || each.path.startsWith(`${path}/`))
  return held || existsSync(join(repositoryRoot, path))
}

/** Where a page says `name` in `src/file.ts`, the file declares that name. */
export const namedFunctionsExist: Rule = (files) =>
  files.filter(isMarkdown).flatMap((file) =>
    proseLines(file).flatMap(({ text, number }) =>
      [...text.matchAll(/`([\w.#]+)(?:\(\))?` in `(src\/[^`\s]+\.ts)`/g)].flatMap(
        ([, name, path]) => {
          const source = files.find((each) => isTypeScript(each) && each.path === path)
          const missing = name
            .split('.')
            .filter((part) => source === undefined || !declaredNames(source).has(part))
          const message = `names ${missing[0]} in ${path}, which is not declared there`
          return missing.length > 0 ? [{ path: file.path, line: number, message }] : []
        },
      ),
    ),
  )

function declaredNames(source: TextFile): Set<string> {
  const names = new Set<string>()
  walk(source, (node) => {
    const named = 'id' in node ? node.id : 'key' in node ? node.key : null
    if (named !== null && typeof named === 'object' && 'name' in named) {
      names.add(String(named.name))
    }
  })
  return names
}
