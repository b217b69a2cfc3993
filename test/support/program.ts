/** The command line as a process of its own, with the lines that it writes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'

const path = join(import.meta.dirname, '../../bin/warmpath')

export class Program {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** Lines of stdout and stderr, in the order in which they came. */
  readonly lines: string[] = []
  readonly #exited: Promise<unknown[]>
  readonly #waiting = new Set<() => void>()

  constructor(t: TestContext, args: readonly string[]) {
    this.child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#exited = once(this.child, 'close')
    for (const stream of [this.child.stdout, this.child.stderr]) {
      createInterface(stream).on('line', (line) => {
        this.lines.push(line)
        for (const wake of [...this.#waiting]) wake()
      })
    }
    t.after(async () => {
      this.child.kill('SIGKILL')
      await this.#exited
    })
  }

  /** The first group of the first line that matches, when it has come. */
  async says(pattern: RegExp): Promise<string> {
    for (;;) {
      for (const line of this.lines) {
        const found = pattern.exec(line)
        if (found !== null) return found[1] ?? found[0]
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake)
          resolve()
        }
        this.#waiting.add(wake)
      })
    }
  }

  signal(name: NodeJS.Signals): this {
    this.child.kill(name)
    return this
  }

  /** Exit status, and the signal where one ended it. */
  async exit(): Promise<{ readonly status: number | null; readonly signal: string | null }> {
    await this.#exited
    return { status: this.child.exitCode, signal: this.child.signalCode }
  }
}
