/** The `model` field of a form, found without taking the form apart. */
import type { ByteSpan } from '../../protocol/model-span.ts'

const partHeadEnd = '\r\n\r\n'
const lineBreakBytes = 2
/** RFC 2046 allows 70 characters. */
const boundaryCharsMax = 200
const modelBytesMax = 512
const urlEncodedBytesMax = 65_536
/** The header lines of one part. */
const partHeadBytesMax = 1_024
const modelField =
  /^content-disposition:[ \t]*form-data[ \t]*;(?:.*;)?[ \t]*name=("?)model\1[ \t]*(?:;|$)/im
/** A model that stands behind so many other parts is not looked for. */
export const formPartsMax = 100

export interface FormModel {
  readonly model: string
  /** Where it stands in the body, as it is; null where it is encoded. */
  readonly span: ByteSpan | null
}

/** Null where the form has no such field, or one that no model could be named by. */
export function modelOfForm(contentType: string, body: Buffer): FormModel | null {
  if (/^multipart\/form-data/i.test(contentType)) return modelOfMultipart(contentType, body)
  if (body.length > urlEncodedBytesMax) return null
  const model = new URLSearchParams(body.toString('utf8')).get('model')
  return model === null ? null : { model, span: null }
}

/**
 * From delimiter to delimiter, so that every byte is passed once: a search for the field's name
 * alone would find it within files too, and begin anew there, in time that grows with the square.
 */
function modelOfMultipart(contentType: string, body: Buffer): FormModel | null {
  const delimiter = delimiterOf(contentType)
  if (delimiter === null) return null
  const opening = delimiter.subarray(lineBreakBytes)
  const opens = body.subarray(0, opening.length).equals(opening)
  let at = opens ? opening.length : headAfter(body, 0, delimiter)
  for (let part = 0; part < formPartsMax && at !== null; part++) {
    const headBytes = modelHeadBytes(body, at)
    if (headBytes !== null) return valueAt(body, at + headBytes, delimiter)
    at = headAfter(body, at, delimiter)
  }
  return null
}

/** Where the head of the next part begins; null where there is no further part. */
function headAfter(body: Buffer, from: number, delimiter: Buffer): number | null {
  const at = body.indexOf(delimiter, from)
  return at < 0 ? null : at + delimiter.length
}

/** What stands before each part but the first, which may lack the line break. */
function delimiterOf(contentType: string): Buffer | null {
  const match = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType)
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined || boundary.length > boundaryCharsMax) return null
  return Buffer.from(`\r\n--${boundary}`, 'latin1')
}

/** The length of the head that begins there; null where it is not the head of the model's part. */
function modelHeadBytes(body: Buffer, start: number): number | null {
  const text = body.toString('latin1', start, start + partHeadBytesMax)
  const end = text.indexOf(partHeadEnd)
  if (end < 0 || !/^[ \t]*\r\n/.test(text)) return null
  const head = text.slice(0, end)
  return modelField.test(head) ? end + partHeadEnd.length : null
}

function valueAt(body: Buffer, start: number, delimiter: Buffer): FormModel | null {
  const window = body.subarray(start, start + modelBytesMax + delimiter.length)
  const bytes = window.indexOf(delimiter)
  if (bytes < 0) return null
  const span = { start, end: start + bytes }
  return { model: body.toString('utf8', span.start, span.end), span }
}
