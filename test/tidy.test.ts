/** What the whole source and paper keep to. Each rule is shown to fail on a small example. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bannedNames, ioAtHome } from './tidy/banned-names.ts'
import { deadFiles } from './tidy/dead-files.ts'
import { fieldCaseIds } from './tidy/field-case-ids.ts'
import {
  driversApart,
  importDirection,
  noCircles,
  pureCore,
  virtualTime,
} from './tidy/import-rules.ts'
import {
  linksResolve,
  namedFilesExist,
  namedFunctionsExist,
  oneTitle,
} from './tidy/markdown-rules.ts'
import { fileLength, fileNames, functionLength, lineLength, noPromises } from './tidy/size-rules.ts'
import type { Rule, TextFile } from './tidy/source-tree.ts'
import { readRepository, renderFindings } from './tidy/source-tree.ts'

const repository = readRepository()

/**
 * @param bad files that break the rule, by path; the first one is where it must be found
 * @param line where in it
 */
function tidyTest(title: string, rule: Rule, line: number, bad: Record<string, string>): void {
  test(title, () => {
    assert.equal(renderFindings(rule(repository)), '')
  })
  test(`${title}: a breach is found with its file and line`, () => {
    const files: TextFile[] = Object.entries(bad).map(([path, text]) => ({ path, text }))
    const found = rule(files).map((finding) => `${finding.path}:${finding.line}`)
    assert.deepEqual(found, [`${files[0].path}:${line}`])
  })
}

tidyTest('imports run one way through the layers', importDirection, 2, {
  'src/core/a.ts': "import { b } from './b.ts'\nimport type { C } from '../io/c.ts'\n",
  'src/core/b.ts': "import { base } from '../base/x.ts'\n",
})

tidyTest('drivers do not import one another', driversApart, 1, {
  'src/drivers/picker/a.ts': "export { b } from '../gateway/b.ts'\n",
  'src/drivers/gateway/b.ts': "import { c } from './c.ts'\n",
})

tidyTest('core and base import no package and no node: module', pureCore, 1, {
  'src/base/a.ts': "import type { Socket } from 'node:net'\n",
})

tidyTest('what runs in virtual time reaches no I/O', virtualTime, 1, {
  'src/lab/engine/a.ts': "import { b } from '../workload/b.ts'\n",
  'src/lab/workload/b.ts': "const c = import('../../io/c.ts')\n",
  'src/lab/emulator/d.ts': "import { c } from '../../io/c.ts'\n",
})

tidyTest('no import circle', noCircles, 1, {
  'src/core/a.ts': "import { b } from './b.ts'\n",
  'src/core/b.ts': "import { c } from './c.ts'\n",
  'src/core/c.ts': "import type { a } from './a.ts'\n",
})

tidyTest('clocks, timers and random sources stay in src/io', bannedNames, 2, {
  'src/lab/a.ts': 'const ok = { setTimeout: 1 }.setTimeout\nconst at = Date.now\n',
  'src/io/b.ts': 'const at = Date.now()\n',
  'src/lab/a.test.ts': 'setImmediate(() => {})\n',
})

tidyTest('sockets, files and threads stay in src/io', ioAtHome, 1, {
  'src/commands/a.ts': "import { readFileSync } from 'node:fs'\n",
  'src/drivers/gateway/b.ts': "import type { Socket } from 'node:net'\n",
})

tidyTest('files are short', fileLength, 401, {
  'src/core/a.ts': '// line\n'.repeat(401),
  'src/core/a.test.ts': '// line\n'.repeat(500),
})

tidyTest('functions are short', functionLength, 2, {
  'src/core/a.ts': `\nexport const f = () => {\n${'f()\n'.repeat(70)}}\n`,
  'src/core/a.test.ts': `describe('x', () => {\n${'f()\n'.repeat(70)}})\n`,
})

tidyTest('lines are short', lineLength, 2, { 'src/core/a.ts': `// a\n// ${'a'.repeat(98)}\n` })

tidyTest('files are named after an idea', fileNames, 1, {
  'src/core/utils.ts': '',
  'src/core/one-idea.test.ts': '',
})

tidyTest('no promises in comments', noPromises, 2, {
  'src/core/a.ts': `// done\n// ${'TO'}${'DO'}: more\n`,
})

tidyTest('every file is used', deadFiles, 1, {
  'src/core/dead.ts': '',
  'src/main.ts': "await import('./core/alive.ts')\n",
  'src/core/alive.ts': "new Worker(new URL('./worker.ts', import.meta.url))\n",
  'src/core/worker.ts': '',
})

tidyTest('field cases named by tests exist', fieldCaseIds, 1, {
  'src/core/a.test.ts': `test('F${'002'}: x', f)\ntest('F003: y', f)\n`,
})

tidyTest('a page has one title', oneTitle, 5, {
  'docs/a.md': '# A\n```\n# no title\n```\n# B\n',
  'docs/b.md': '# B\n\n## part\n',
})

tidyTest('links lead somewhere', linksResolve, 3, {
  'docs/a.md': '# A\n[ok](guides/b.md#the-end) [web](https://example.org)\n[no](b.md#nowhere)\n',
  'docs/guides/b.md': '# B\n## The end\n[up](../a.md)\n',
  'docs/b.md': '# B\n',
})

tidyTest('files that pages name exist', namedFilesExist, 2, {
  'docs/a.md': '# A\n`src/core/none.ts` and `src/core/one.ts` and `src/core`\n',
  'src/core/one.ts': '',
})

tidyTest('functions that pages name are declared there', namedFunctionsExist, 2, {
  'docs/a.md': '# A\n`gone` in `src/core/one.ts`, `A.run()` in `src/core/one.ts`\n',
  'src/core/one.ts': 'export class A { run() {} }\n',
})
