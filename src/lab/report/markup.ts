/** HTML and SVG as strings. Whatever is not made here is text, and is escaped. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Characters that no page may hold; XML forbids them even as entities. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones meant
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g

/** Text for between tags, or in a quoted attribute. */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(forbidden, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

export type Attributes = Readonly<Record<string, string | number | undefined>>

/** An element; `content` is markup already. Numbers are written with two decimals at most. */
export function element(name: string, attributes: Attributes, content?: string): string {
  let tag = `<${name}`
  for (const key in attributes) {
    const value = attributes[key]
    if (value === undefined) continue
    tag += ` ${key}="${typeof value === 'number' ? short(value) : escapeText(value)}"`
  }
  return content === undefined ? `${tag}/>` : `${tag}>${content}</${name}>`
}

/** An element with text in it. */
export function textElement(name: string, attributes: Attributes, text: string): string {
  return element(name, attributes, escapeText(text))
}

/** A coordinate: two decimals are a fiftieth of a pixel. */
export function short(value: number): string {
  return String(Math.round(value * 100) / 100)
}
