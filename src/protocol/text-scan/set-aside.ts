/**
 * Parses a body without touching most of it. Prompts are a few long strings in a little JSON: those
 * strings stay where they are, and the parsed value holds a short stand-in for each. Whoever needs
 * the text asks for it; the hasher takes its bytes as they are.
 */
import { isUtf8 } from 'node:buffer'
import { holdsAt } from '../bytes.ts'
import { type Json, parseJson } from '../json.ts'
import { reserveScanMemory, scanMemory, scanWords, textScan } from './text-scan.ts'

/** Below this the plain parser is as fast. */
const bodyBytesMin = 512
/** Larger bodies are few, and mostly images. */
const bodyBytesMax = 8 * 1_048_576
/** Shorter strings are parsed as usual. */
const longBytes = 128
const longStringsMax = 16_384
const spanWords = 3
/** DEL and seven digits. The scanner sees to it that no other string looks so. */
const standInChars = 8
const standInMark = 0x7f

const bodyAt = reserveScanMemory(bodyBytesMax)
const outAt = reserveScanMemory(bodyBytesMax)
const spansAt = reserveScanMemory(longStringsMax * spanWords * 4)
const spansEnd = spansAt + longStringsMax * spanWords * 4

/** Where a string that was set aside stands in the scanner's memory, without its quotes. */
export interface SetAside {
  readonly start: number
  readonly end: number
  /** Its bytes are the string's canonical JSON text. */
  readonly canonical: boolean
}

let open = false

/**
 * Parses `body` and lets `use` look at it; what it was given means nothing afterwards. Undefined
 * where the body is not JSON.
 */
export function withParsedBody<T>(body: Buffer, use: (parsed: Json) => T): T | undefined {
  const skeleton = setAside(body)
  if (skeleton === null) {
    const parsed = parseJson(body.toString())
    return parsed === undefined ? undefined : use(parsed)
  }
  const parsed = parseJson(skeleton)
  if (parsed === undefined) return undefined
  open = true
  try {
    return use(parsed)
  } finally {
    open = false
  }
}

/** The body with stand-ins; null where it must be parsed as it is. */
function setAside(body: Buffer): string | null {
  if (body.length < bodyBytesMin || body.length > bodyBytesMax || !isUtf8(body)) return null
  body.copy(scanMemory, bodyAt)
  const end = bodyAt + body.length
  const length = textScan.setAside(bodyAt, end, outAt, spansAt, spansEnd, longBytes)
  return length < 0 ? null : scanMemory.toString('utf8', outAt, outAt + length)
}

/** Where the string is that `text` stands in for; null where it is a string itself. */
export function setAsideOf(text: string): SetAside | null {
  if (!open || text.length !== standInChars || text.charCodeAt(0) !== standInMark) return null
  let number = 0
  for (let i = 1; i < standInChars; i++) {
    const code = text.charCodeAt(i)
    number = 16 * number + (code > 0x39 ? code - 0x57 : code - 0x30)
  }
  const word = spansAt / 4 + spanWords * number
  return {
    start: scanWords[word]!,
    end: scanWords[word + 1]!,
    canonical: scanWords[word + 2] === 0,
  }
}

/** The string itself, whether it was set aside or not. Malformed escapes give ''. */
export function wholeText(text: string): string {
  const aside = setAsideOf(text)
  if (aside === null) return text
  const whole = parseJson(scanMemory.toString('utf8', aside.start - 1, aside.end + 1))
  return typeof whole === 'string' ? whole : ''
}

/** Whether `text` stands in for a string that begins with these bytes of plain text. */
export function setAsideStartsWith(text: string, bytes: Buffer): boolean {
  const aside = setAsideOf(text)
  return aside !== null && holdsAt(scanMemory, aside.start, bytes)
}
