/** Width and height out of an image file's first bytes. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Reads PNG, GIF, WebP and JPEG; null for other formats and where the head is too short. */
export function imageSize(head: Buffer): ImageSize | null {
  if (head.length < 30) return null
  if (head.readUInt32BE(0) === 0x89504e47) {
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
  }
  if (head.toString('latin1', 0, 4) === 'GIF8') {
    return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
  }
  if (head.toString('latin1', 8, 12) === 'WEBP') return webpSize(head)
  return head.readUInt16BE(0) === 0xffd8 ? jpegSize(head) : null
}

function webpSize(head: Buffer): ImageSize | null {
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    default:
      return null
  }
}

/** Steps from segment to segment until a start of frame (0xc0 to 0xcf without DHT, JPG and DAC). */
function jpegSize(head: Buffer): ImageSize | null {
  let at = 2
  while (at + 9 <= head.length && head[at] === 0xff) {
    const marker = head[at + 1]
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) }
    }
    at += 2 + head.readUInt16BE(at + 2)
  }
  return null
}
