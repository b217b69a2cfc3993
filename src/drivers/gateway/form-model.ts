/** The `model` field of a form, found without taking the form apart. */

const fieldNames = [Buffer.from('name="model"'), Buffer.from('name=model\r\n')]
const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const modelBytesMax = 512
/** Other header lines of the part that may stand between its name and its value. */
const headBytesMax = 1_024

/** Null where the form has no such field, or one that no model could be named by. */
export function modelOfForm(contentType: string, body: Buffer): string | null {
  if (/^multipart\/form-data/i.test(contentType)) return modelOfMultipart(body)
  if (body.length > 65_536) return null
  return new URLSearchParams(body.toString('utf8')).get('model')
}

function modelOfMultipart(body: Buffer): string | null {
  for (const name of fieldNames) {
    for (let at = body.indexOf(name); at >= 0; at = body.indexOf(name, at + 1)) {
      if (!inPartHead(body, at)) continue
      const head = body.indexOf(headEnd, at)
      if (head < 0 || head - at > headBytesMax) continue
      const start = head + headEnd.length
      const end = body.indexOf(lineEnd, start)
      if (end < 0 || end - start > modelBytesMax) continue
      return body.toString('utf8', start, end)
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
