import { type Plot, plotSeriesMax } from '../plot-spec.ts'
import { drawBarPlot } from './bar-plot.ts'
import { drawCdfPlot } from './cdf-plot.ts'
import { describePlot } from './describe-plot.ts'
import { drawGantt } from './gantt.ts'
import { drawHeatmap } from './heatmap.ts'
import { drawLinePlot } from './line-plot.ts'
import { drawScatterPlot } from './scatter-plot.ts'

/**
 * A plot as an SVG element; its colours come from the page's style.
 * @throws RangeError when it has more series than can be told apart
 */
export function drawPlot(plot: Plot): string {
  const series =
    plot.plot === 'heatmap' ? 1 : (plot.plot === 'gantt' ? plot.kinds : plot.series).length
  if (series > plotSeriesMax) {
    throw new RangeError(`'${plot.title}' has ${series} series; ${plotSeriesMax} can be told apart`)
  }
  const alt = describePlot(plot)
  switch (plot.plot) {
    case 'line':
      return drawLinePlot(plot, alt)
    case 'scatter':
      return drawScatterPlot(plot, alt)
    case 'cdf':
      return drawCdfPlot(plot, alt)
    case 'bars':
      return drawBarPlot(plot, alt)
    case 'heatmap':
      return drawHeatmap(plot, alt)
    case 'gantt':
      return drawGantt(plot, alt)
  }
}
