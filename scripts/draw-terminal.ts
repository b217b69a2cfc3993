/**
 * Draws the text on standard input as a terminal window in SVG, for the README:
 * `node scripts/draw-terminal.ts < frame.txt > docs/demo.svg`
 */
import { readFileSync } from 'node:fs'

const cell = { width: 8.4, height: 18, font: 14, margin: 20 }

function escaped(text: string): string {
  // Renderers fold spaces; those that do not break are kept.
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0')
}

const lines = readFileSync(0, 'utf8').trimEnd().split('\n')
const columns = Math.max(...lines.map((line) => line.length))
const width = Math.ceil(columns * cell.width + 2 * cell.margin)
const height = lines.length * cell.height + 2 * cell.margin
const rows = lines
  .map((line, i) => {
    const y = cell.margin + (i + 1) * cell.height - 4
    const weight = /^(ROUND-ROBIN|Warmpath)/.test(line) ? ' font-weight="bold"' : ''
    return `<text x="${cell.margin}" y="${y}"${weight}>${escaped(line)}</text>`
  })
  .join('\n')
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}">\n<title>${escaped(lines[0]!)}</title>\n` +
    `<rect width="100%" height="100%" rx="8" fill="#10161d"/>\n` +
    `<g fill="#d8e1ea" font-family="ui-monospace, Menlo, Consolas, monospace" ` +
    `font-size="${cell.font}">\n${rows}\n</g>\n</svg>\n`,
)
