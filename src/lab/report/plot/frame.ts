/** What the plots with two axes share: size, grid, axes, labels, rules. */
import { element, escapeText, short, textElement } from '../markup.ts'
import type { Axis, Rule } from '../plot-spec.ts'
import { type AxisScale, axisScale } from './axis-scale.ts'
import { type LegendEntry, legend } from './legend.ts'
import { cutText, textWidth } from './text-width.ts'

export const plotWidth = 760
const bodyHeight = 300
const belowHeight = 40

export interface FrameOptions {
  readonly x: Axis
  readonly y: Axis
  readonly xs: Iterable<number>
  readonly ys: Iterable<number>
  readonly rules?: readonly Rule[] | undefined
  readonly legend: readonly LegendEntry[]
}

/** An empty plot: `draw` puts what is in it between the grid and the axes. */
export class XyFrame {
  readonly x: AxisScale
  readonly y: AxisScale
  readonly #legend: ReturnType<typeof legend>
  readonly #left: number
  readonly #rules: readonly Rule[]

  constructor(options: FrameOptions) {
    const { rules = [] } = options
    const along = (axis: 'x' | 'y'): number[] =>
      rules.filter((rule) => rule.axis === axis).map(({ at }) => at)
    this.#rules = rules
    this.#legend = legend(options.legend, plotWidth)
    const top = this.top
    this.y = axisScale(options.y, both(options.ys, along('y')), [top + bodyHeight, top])
    this.#left = 12 + Math.max(24, ...this.y.ticks.map(({ text }) => textWidth(text)))
    this.x = axisScale(options.x, both(options.xs, along('x')), [this.#left, plotWidth - 14], 8)
  }

  get left(): number {
    return this.#left
  }

  /** Room for the legend, and for the label of the y axis. */
  get top(): number {
    return this.#legend.height + 22
  }

  get bottom(): number {
    return this.top + bodyHeight
  }

  /** The whole as SVG. */
  draw(content: string, alt: string): string {
    const body = this.#grid() + content + this.#axes() + this.#drawRules() + this.#legend.svg
    return svg(this.bottom + belowHeight, alt, body)
  }

  #grid(): string {
    const right = plotWidth - 14
    const across = this.y.ticks.map(({ at }) => `M${short(this.#left)} ${short(at)}H${right}`)
    const down = this.x.ticks.map(({ at }) => `M${short(at)} ${this.top}V${this.bottom}`)
    return element('path', { class: 'grid', fill: 'none', d: [...across, ...down].join('') })
  }

  #axes(): string {
    const { bottom } = this
    const right = plotWidth - 14
    const d = `M${short(this.#left)} ${this.top}V${bottom}H${right}`
    let svg = element('path', { class: 'axis', fill: 'none', d })
    for (const { at, text } of this.y.ticks) {
      svg += textElement('text', { x: this.#left - 8, y: at + 4, 'text-anchor': 'end' }, text)
    }
    svg += xTickTexts(this.x, bottom + 16)
    svg += textElement('text', { x: 0, y: this.top - 10 }, this.y.label)
    const label = { x: right, y: bottom + 34, 'text-anchor': 'end' }
    return svg + textElement('text', label, this.x.label)
  }

  #drawRules(): string {
    let svg = ''
    for (const { axis, at, label } of this.#rules) {
      const scale = axis === 'x' ? this.x : this.y
      if (!scale.holds(at)) continue
      const place = scale.at(at)
      const text = escapeText(cutText(label, 260))
      if (axis === 'y') {
        const d = `M${short(this.#left)} ${short(place)}H${plotWidth - 14}`
        svg += element('path', { class: 'rule', d })
        const attributes = { x: plotWidth - 18, y: place - 4, 'text-anchor': 'end' }
        svg += element('text', attributes, text)
      } else {
        svg += element('path', { class: 'rule', d: `M${short(place)} ${this.top}V${this.bottom}` })
        const late = place > plotWidth * 0.7
        const attributes = { x: place + (late ? -5 : 5), y: this.top + 12 }
        svg += element('text', { ...attributes, 'text-anchor': late ? 'end' : 'start' }, text)
      }
    }
    return svg
  }
}

/** Ticks below an axis; those that would touch the one before are left out. */
export function xTickTexts(scale: AxisScale, y: number): string {
  let svg = ''
  let free = Number.NEGATIVE_INFINITY
  for (const { at, text } of scale.ticks) {
    const half = textWidth(text) / 2
    if (text === '' || at - half < free) continue
    free = at + half + 8
    svg += textElement('text', { x: at, y, 'text-anchor': 'middle' }, text)
  }
  return svg
}

/** The outermost element; its text alternative is for those who do not see it. */
export function svg(height: number, alt: string, content: string): string {
  const size = { viewBox: `0 0 ${plotWidth} ${short(height)}`, width: plotWidth, height }
  const named = { role: 'img', 'aria-label': alt }
  return element('svg', { xmlns: 'http://www.w3.org/2000/svg', ...size, ...named }, content)
}

function* both(some: Iterable<number>, more: Iterable<number>): Iterable<number> {
  yield* some
  yield* more
}
