/** Plots as plain data, in the units of the figures; an axis scales for the reader. */

export type Plot = LinePlot | ScatterPlot | CdfPlot | BarPlot | HeatmapPlot | GanttPlot

/** More cannot be told apart, by anybody. */
export const plotSeriesMax = 8

interface PlotCommon {
  readonly kind: 'plot'
  readonly title: string
  /** What it shows, for those who do not see it; made of the data when absent. */
  readonly alt?: string
  /** Stands below. */
  readonly note?: string
}

export interface Axis {
  /** With its unit. */
  readonly label: string
  readonly scale?: 'linear' | 'log'
  /** Shown = value × factor, as in a table. */
  readonly factor?: number
  /** Ends, in the units of the data; from the data when absent. A linear axis starts at 0. */
  readonly from?: number
  readonly to?: number
}

/** A thin line across, such as an objective or a knee. */
export interface Rule {
  readonly axis: 'x' | 'y'
  readonly at: number
  readonly label: string
}

interface XyPlot extends PlotCommon {
  readonly x: Axis
  readonly y: Axis
  readonly rules?: readonly Rule[]
}

export interface LinePoint {
  readonly x: number
  /** Null leaves a gap. */
  readonly y: number | null
  /** An interval, drawn as a band. */
  readonly low?: number | null
  readonly high?: number | null
}

export interface LineSeries {
  readonly name: string
  readonly points: readonly LinePoint[]
  readonly dashed?: boolean
}

export interface LinePlot extends XyPlot {
  readonly plot: 'line'
  readonly series: readonly LineSeries[]
}

export interface ScatterSeries {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number; readonly label?: string }[]
}

export interface ScatterPlot extends XyPlot {
  readonly plot: 'scatter'
  readonly series: readonly ScatterSeries[]
  /** Draws y = x, for predicted against actual. */
  readonly diagonal?: boolean
}

/** Share of the values at or below x. */
export interface CdfPlot extends PlotCommon {
  readonly plot: 'cdf'
  readonly x: Axis
  /** Values in any order. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[]
  readonly rules?: readonly Rule[]
}

export interface BarSeries {
  readonly name: string
  /** One for each category. */
  readonly values: readonly (number | null)[]
  /** Ends of error bars. */
  readonly low?: readonly (number | null)[]
  readonly high?: readonly (number | null)[]
}

export interface BarPlot extends PlotCommon {
  readonly plot: 'bars'
  readonly categories: readonly string[]
  readonly series: readonly BarSeries[]
  /** The axis of the values. */
  readonly value: Axis
  /** On top of one another instead of side by side; no error bars then. */
  readonly stacked?: boolean
}

/** Rows of cells over time or another even axis, such as replica × time. */
export interface HeatmapPlot extends PlotCommon {
  readonly plot: 'heatmap'
  readonly x: Axis
  /** Where the first column begins, and how wide each is. */
  readonly start: number
  readonly step: number
  readonly rows: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
  /** What the colour stands for. */
  readonly value: Axis
}

/** What each row did when; for sessions: held, queue, prefill, decode, tool. */
export interface GanttPlot extends PlotCommon {
  readonly plot: 'gantt'
  readonly x: Axis
  /** In the order of the legend. */
  readonly kinds: readonly string[]
  readonly rows: readonly {
    readonly name: string
    readonly spans: readonly { readonly kind: string; readonly from: number; readonly to: number }[]
  }[]
}
