import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Where a Chromium is, or null. */
export function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return paths.find((path) => existsSync(path)) ?? null
}

export interface OpenedPage {
  /** The document after loading, as HTML. */
  readonly dom: string
  /** What the console said: errors, and whatever the page's policy kept from loading. */
  readonly console: readonly string[]
}

/** Opens a page as a file, without a network, and waits until it is loaded. */
export async function openInChromium(chromium: string, html: string): Promise<OpenedPage> {
  const folder = mkdtempSync(join(tmpdir(), 'warmpath-page-'))
  try {
    const file = join(folder, 'page.html')
    writeFileSync(file, html)
    const { stdout, stderr } = await run(chromium, [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--host-resolver-rules=MAP * ~NOTFOUND',
      `--user-data-dir=${join(folder, 'profile')}`,
      '--enable-logging=stderr',
      '--dump-dom',
      `file://${file}`,
    ])
    return { dom: stdout, console: stderr.split('\n').filter((line) => line.includes('CONSOLE')) }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function run(
  command: string,
  args: readonly string[],
): Promise<{ stdout: string; stderr: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ stdout: string; stderr: string }>()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.on('error', reject)
  child.on('close', (code, signal) => {
    if (code === 0) resolve({ stdout, stderr })
    else reject(new Error(`${command} ended with ${code ?? signal}: ${stderr.slice(-2_000)}`))
  })
  return promise
}
