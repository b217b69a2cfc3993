/** The `model` field of a form, found without taking the form apart. */
import type { ByteSpan } from '../../protocol/model-span.ts'

const fieldNames = [Buffer.from('name="model"'), Buffer.from('name=model\r\n')]
const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const modelBytesMax = 512
const urlEncodedBytesMax = 65_536
/** Other header lines of the part that may stand between its name and its value. */
const headBytesMax = 1_024

export interface FormModel {
  readonly model: string
  /** Where it stands in the body, as it is; null where it is encoded. */
  readonly span: ByteSpan | null
}

/** Null where the form has no such field, or one that no model could be named by. */
export function modelOfForm(contentType: string, body: Buffer): FormModel | null {
  if (/^multipart\/form-data/i.test(contentType)) return modelOfMultipart(body)
  if (body.length > urlEncodedBytesMax) return null
  const model = new URLSearchParams(body.toString('utf8')).get('model')
  return model === null ? null : { model, span: null }
}

function modelOfMultipart(body: Buffer): FormModel | null {
  for (const name of fieldNames) {
    for (let at = body.indexOf(name); at >= 0; at = body.indexOf(name, at + 1)) {
      if (!inPartHead(body, at)) continue
      const head = body.indexOf(headEnd, at)
      if (head < 0 || head - at > headBytesMax) continue
      const start = head + headEnd.length
      const end = body.indexOf(lineEnd, start)
      if (end < 0 || end - start > modelBytesMax) continue
      return { model: body.toString('utf8', start, end), span: { start, end } }
    }
  }
  return null
}

/** The name counts only in a line `Content-Disposition: form-data; …`, not within a file. */
function inPartHead(body: Buffer, at: number): boolean {
  const lineStart = body.lastIndexOf(lineEnd, at) + lineEnd.length
  if (lineStart < lineEnd.length || at - lineStart > headBytesMax) return false
  const line = body.toString('latin1', lineStart, at).toLowerCase()
  if (!line.startsWith('content-disposition:') || !line.includes('form-data')) return false
  // The line before must be a boundary, or another header of the same part.
  const before = body.lastIndexOf(lineEnd, lineStart - lineEnd.length - 1) + lineEnd.length
  const previous = body.toString('latin1', Math.max(0, before), lineStart - lineEnd.length)
  return previous.startsWith('--') || /^content-/i.test(previous)
}
