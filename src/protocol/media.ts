/** Images, audio, video and files in a prompt: by the hash of their content. */
import { BlockHasher } from './block-hasher.ts'
import { imageSize } from './image-size.ts'
import { isObject, type Json, type JsonObject, stringOr } from './json.ts'
import { promptTag } from './prompt-tags.ts'
import { wholeText } from './text-scan/set-aside.ts'

type MediaKind = 'image' | 'audio' | 'video' | 'file'

/** Pseudo-bytes that one estimated token takes in the canonical stream. */
const bytesPerToken = 4
/** Where nothing tells how large the thing is: a URL, an uploaded file's id, an unknown format. */
const tokensOfUnknown: Record<MediaKind, number> = {
  image: 1_024,
  audio: 512,
  video: 4_096,
  file: 2_048,
}
/** OpenAI counts an image of low detail as this many tokens. */
const lowDetailTokens = 85
/** Qwen-VL and its like make one token of 28 x 28 pixels. */
const pixelsPerImageToken = 28 * 28
/** A JPEG's size stands behind its metadata, which may hold a thumbnail. */
const imageHeadChars = 64 * 1024
const tokensMin = 16
const tokensMax = 16_384
/** Base64 characters per token, by rule of thumb: 16 kB/s of MP3 and 25 tokens/s; a PDF's text. */
const charsPerToken = { audio: 850, video: 4_000, file: 100 } as const

const mediaHasher = new BlockHasher()

/** Writes a media part; false when the part is none of the known shapes. */
export function writeMedia(out: BlockHasher, part: JsonObject): boolean {
  const kind = kindOf(stringOr(part.type, ''))
  if (kind === null) return false
  const content = contentOf(part)
  if (content === null) return false
  mediaHasher.start(0, 0)
  mediaHasher.text(content)
  const { lo, hi } = mediaHasher.digest()
  const tokens = estimateTokens(kind, content, detailOf(part))
  out.tag(promptTag.media)
  out.word(tokens)
  for (let bytes = 0; bytes < tokens * bytesPerToken; bytes += 8) {
    out.word(lo)
    out.word(hi)
  }
  return true
}

function kindOf(type: string): MediaKind | null {
  switch (type) {
    case 'image':
    case 'image_url':
    case 'input_image':
      return 'image'
    case 'audio':
    case 'audio_url':
    case 'input_audio':
      return 'audio'
    case 'video':
    case 'video_url':
    case 'input_video':
      return 'video'
    case 'file':
    case 'input_file':
    case 'document':
      return 'file'
    default:
      return null
  }
}

/** The data, URL or id, wherever one of the APIs puts it. */
function contentOf(part: JsonObject): string | null {
  const places: (Json | undefined)[] = [
    part.image_url,
    part.image,
    part.input_audio,
    part.audio_url,
    part.video_url,
    part.source,
    part.file,
    part,
  ]
  for (const place of places) {
    if (typeof place === 'string') return wholeText(place)
    if (!isObject(place)) continue
    for (const key of ['url', 'data', 'file_data', 'file_id', 'file_url', 'uuid']) {
      const value = place[key]
      if (typeof value === 'string') return wholeText(value)
    }
  }
  return null
}

function detailOf(part: JsonObject): string {
  const inner = isObject(part.image_url) ? part.image_url.detail : undefined
  return stringOr(inner ?? part.detail, '')
}

function estimateTokens(kind: MediaKind, content: string, detail: string): number {
  if (kind === 'image' && detail === 'low') return lowDetailTokens
  if (content.startsWith('http') || content.length < 256) return tokensOfUnknown[kind]
  if (kind !== 'image') return clamp(content.length / charsPerToken[kind])
  const comma = content.startsWith('data:') ? content.indexOf(',') + 1 : 0
  const size = imageSize(Buffer.from(content.slice(comma, comma + imageHeadChars), 'base64'))
  return size === null
    ? tokensOfUnknown.image
    : clamp((size.width * size.height) / pixelsPerImageToken)
}

function clamp(tokens: number): number {
  return Math.round(Math.min(tokensMax, Math.max(tokensMin, tokens)))
}
