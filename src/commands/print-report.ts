/** What the commands that end in a report have in common: their flags and their output. */
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { exitCodes } from '../base/exit-codes.ts'
import { cellText } from '../lab/report/render-table.ts'
import type { Provenance, Report, ReportTable } from '../lab/report/report.ts'
import { CommandFailure } from './command-failure.ts'
import { textTable } from './text-table.ts'

export interface ReportFlags {
  readonly json?: true
  readonly html?: string
}

export function reportFlags(command: Command): Command {
  return command
    .option('--json', 'print all figures as JSON')
    .option('--html <file>', 'also write a page with plots, self-contained')
}

/**
 * Prints a report: its tables and, last, its sentence; or the figures as JSON. With `--html` its
 * page is written, too.
 * @param figures what the report was made of
 */
export async function printReport(
  report: Report,
  figures: unknown,
  { json, html }: ReportFlags,
): Promise<void> {
  if (html !== undefined) {
    const { renderReport } = await import('../lab/report/render-report.ts')
    const { writeTextFile } = await import('../io/write-text-file.ts')
    const problem = writeTextFile(html, renderReport(report))
    if (problem !== null) {
      throw new CommandFailure(exitCodes.usage, `--html: cannot write ${html}: ${problem}`)
    }
  }
  process.stdout.write(`${json ? JSON.stringify(figures, null, 2) : reportText(report)}\n`)
}

/** The tables of a report for a terminal, and its sentence. */
export function reportText({ title, summary, sections }: Report): string {
  const tables = sections
    .flatMap(({ parts }) => parts.filter((part) => part.kind === 'table'))
    .filter(({ pageOnly = false }) => !pageOnly)
  return [title, ...tables.map(tableText), summary].join('\n\n')
}

function tableText({ title, columns, rows, note }: ReportTable): string {
  const heads = columns.map(({ title, digits }) => ({
    title,
    align: digits === undefined ? ('left' as const) : ('right' as const),
  }))
  const cells = rows.map((row) => columns.map((column, i) => cellText(row[i] ?? null, column)))
  const lines = title === '' ? [] : [title]
  lines.push(textTable(heads, cells))
  if (note !== undefined) lines.push(note)
  return lines.join('\n')
}

/** Where the figures of this run come from; what a command knows of it, it gives. */
export async function provenance(known: Partial<Provenance>): Promise<Provenance> {
  const { thisMachine } = await import('../io/this-machine.ts')
  const { wallTime } = await import('../io/wall-time.ts')
  return {
    version: packageJson.version,
    command: ['warmpath', ...process.argv.slice(2).map(shellWord)].join(' '),
    date: wallTime(),
    seeds: [],
    traceHash: null,
    device: thisMachine(),
    simulated: false,
    ...known,
  }
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
