import { escapeText } from '../markup.ts'
import { markPath } from './marks.ts'
import { textWidth } from './text-width.ts'

export interface LegendEntry {
  readonly name: string
  readonly swatch: 'line' | 'dashed' | 'plain' | 'dot' | 'box'
}

const rowHeight = 18

/** Rows of swatches and names above a plot. A single series needs none: its title names it. */
export function legend(
  entries: readonly LegendEntry[],
  width: number,
): { readonly svg: string; readonly height: number } {
  if (entries.length < 2) return { svg: '', height: 0 }
  let x = 0
  let y = 0
  let svg = ''
  entries.forEach(({ name, swatch }, i) => {
    const needed = 26 + textWidth(name) + 16
    if (x > 0 && x + needed > width) {
      x = 0
      y += rowHeight
    }
    const text = `<text class="name" x="26" y="4">${escapeText(name)}</text>`
    svg += `<g class="s${i}" transform="translate(${x} ${y + 9})">${swatchOf(swatch, i)}${text}</g>`
    x += Math.ceil(needed)
  })
  return { svg, height: y + rowHeight + 8 }
}

function swatchOf(swatch: LegendEntry['swatch'], index: number): string {
  if (swatch === 'box') return '<rect class="bar" x="4" y="-6" width="14" height="12" rx="2"/>'
  if (swatch === 'dot') return '<circle class="dot" cx="11" cy="0" r="4"/>'
  const mark = `<path class="mark" transform="translate(11 0)" d="${markPath(index)}"/>`
  if (swatch === 'plain') return '<path class="line" d="M0 0H22"/>'
  return `<path class="line${swatch === 'dashed' ? ' dashed' : ''}" d="M0 0H22"/>${mark}`
}
