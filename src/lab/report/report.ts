/**
 * A report as plain data. `renderReport` makes a page of it; the figures in it are the very values
 * that `--json` prints, in the same units, and only the drawing scales and rounds them.
 */
import type { Plot } from './plot-spec.ts'

export interface Report {
  readonly title: string
  /** One sentence that a manager understands. */
  readonly summary: string
  readonly provenance: Provenance
  readonly sections: readonly ReportSection[]
}

/** Where the figures come from. */
export interface Provenance {
  /** Of this program. */
  readonly version: string
  /** The command line that made them. */
  readonly command: string
  /** ISO 8601, given from outside; null on a page that must come out the same each time. */
  readonly date: string | null
  readonly seeds: readonly number[]
  /** Of the traffic or the log; null where there is none. */
  readonly traceHash: string | null
  /** What ran: processor, or the engine's accelerator. */
  readonly device: string | null
  readonly simulated: boolean
}

export interface ReportSection {
  readonly title: string
  readonly parts: readonly ReportPart[]
}

export type ReportPart = ReportText | ReportTable | Plot

/** A paragraph. */
export interface ReportText {
  readonly kind: 'text'
  readonly text: string
}

export interface ReportTable {
  readonly kind: 'table'
  readonly title: string
  readonly columns: readonly ReportColumn[]
  readonly rows: readonly (readonly Cell[])[]
  readonly note?: string
  /** Too much for a terminal: it stands in the page only. */
  readonly pageOnly?: boolean
}

export interface ReportColumn {
  /** With its unit: `TTFT p50 s`. */
  readonly title: string
  /** Decimals shown. A column with them is one of numbers. */
  readonly digits?: number
  /** Shown = value × factor: 0.001 shows ms as s, 100 a share as per cent. 1 when absent. */
  readonly factor?: number
}

/** A null or a number that is not finite is shown as a dash: not known, or none. */
export type Cell = string | number | null | CellInterval

/** A value with the ends of its interval; null ends are left out. */
export interface CellInterval {
  readonly value: number
  readonly low: number | null
  readonly high: number | null
}
