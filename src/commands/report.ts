import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { Clock } from '../base/scheduler.ts'
import type { LogTally } from '../lab/log-report/log-tally.ts'
import type { DecisionLogReader } from '../observe/read-decision-log.ts'
import { CommandFailure } from './command-failure.ts'
import { durationArgument } from './duration-argument.ts'
import { numberArgument } from './number-argument.ts'
import { type ReportFlags, reportFlags } from './print-report.ts'

const help = `
Examples:
  warmpath serve … --decision-log decisions.jsonl     # write one
  warmpath report decisions.jsonl                     # what happened
  warmpath report decisions.jsonl.1 decisions.jsonl   # a log that was rotated, the older file first
  warmpath report decisions.jsonl --price-per-hour 12.5 --html report.html

docs/guides/report.md explains the figures.
`

interface ReportOptions extends ReportFlags {
  readonly pricePerHour?: number
  readonly taskGap: number
}

/** Bad lines that are named on stderr; the report has more of them. */
const namedMax = 5
const linesPerLook = 20_000

/** `warmpath report`: what happened, from a decision log. */
export function register(program: Command): void {
  const command = program
    .command('report')
    .summary('say what happened, from a decision log')
    .description('Says what happened, from the decision log of a gateway.')
    .argument('<logs...>', 'files, the oldest first; - is the standard input')
    .option('--price-per-hour <number>', 'of one endpoint', numberArgument(0, 1e6, 'fraction'))
    .option(
      '--task-gap <time>',
      'silence after which a session begins a new task',
      durationArgument(1_000, 86_400_000),
      300_000,
    )
  reportFlags(command).addHelpText('after', help).action(report)
}

async function report(files: readonly string[], options: ReportOptions): Promise<void> {
  const { LogTally } = await import('../lab/log-report/log-tally.ts')
  const { logReport } = await import('../lab/log-report/log-report.ts')
  const { DecisionLogReader } = await import('../observe/read-decision-log.ts')
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const { printReport, provenance } = await import('./print-report.ts')
  const tally = new LogTally({
    taskGapMs: options.taskGap,
    pricePerHour: options.pricePerHour ?? null,
  })
  const clock = realTimeScheduler()
  const readers: DecisionLogReader[] = []
  for (const file of files) {
    const reader = new DecisionLogReader(file)
    readers.push(reader)
    await readFile(file, reader, tally, clock)
  }
  nameBadLines(readers)
  const figures = tally.figures(readers, files)
  const known = { device: null, traceHash: null }
  await printReport(logReport(figures, await provenance(known)), figures, options)
  process.exitCode = figures.all.requests.all > 0 ? exitCodes.ok : exitCodes.failed
}

async function readFile(
  file: string,
  reader: DecisionLogReader,
  tally: LogTally,
  clock: Clock,
): Promise<void> {
  const { readLines } = await import('../io/read-lines.ts')
  const { LiveLine } = await import('./live-line.ts')
  const line = new LiveLine(clock)
  try {
    for (const text of readLines(file)) {
      const record = reader.read(text)
      if (record !== null) tally.add(record)
      if (reader.lines % linesPerLook === 0) line.show(`${file}: ${reader.lines} lines read`)
    }
  } catch (error) {
    throw unreadable(file, error)
  } finally {
    line.end()
  }
}

function unreadable(file: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, message } = error as NodeJS.ErrnoException
  const why = { ENOENT: 'no such file', EACCES: 'not allowed to read it', EISDIR: 'a directory' }
  if (code !== undefined && Object.hasOwn(why, code)) {
    const reason = why[code as keyof typeof why]
    return new CommandFailure(exitCodes.notFound, `cannot read ${file}: ${reason}`)
  }
  // A log of a later version, or a line without end; another kind is a fault of the program.
  if (error.constructor !== Error && error.constructor !== RangeError) return error
  return new CommandFailure(exitCodes.config, message)
}

function nameBadLines(readers: readonly DecisionLogReader[]): void {
  const problems = readers.flatMap((reader) => reader.problems)
  for (const { file, line, problem } of problems.slice(0, namedMax)) {
    process.stderr.write(`warmpath: ${file}:${line}: ${problem}\n`)
  }
  const bad = readers.reduce((sum, reader) => sum + reader.badLines, 0)
  if (bad > namedMax) process.stderr.write(`warmpath: ${bad} bad lines in all, left out\n`)
}
