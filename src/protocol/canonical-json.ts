/** JSON values into the canonical stream: equal values give equal bytes, in whatever form. */
import type { BlockHasher } from './block-hasher.ts'
import type { Json, JsonObject } from './json.ts'
import { protocolLimits } from './limits.ts'
import { promptTag } from './prompt-tags.ts'

/**
 * Keys are sorted. `cache_control` is left out wherever it stands: it marks the end of a cached
 * prefix, wanders from turn to turn and never reaches the model.
 */
export function writeJson(out: BlockHasher, value: Json | undefined, depth = 0): void {
  if (typeof value === 'string') {
    out.tag(promptTag.string)
    out.text(value)
  } else if (typeof value === 'number') {
    out.tag(promptTag.number)
    out.text(String(value))
  } else if (typeof value === 'boolean') {
    out.tag(value ? promptTag.true : promptTag.false)
  } else if (value === null || value === undefined || depth >= protocolLimits.jsonDepthMax) {
    out.tag(promptTag.null)
  } else if (Array.isArray(value)) {
    out.tag(promptTag.arrayOpen)
    for (const item of value) writeJson(out, item, depth + 1)
    out.tag(promptTag.arrayClose)
  } else {
    writeObject(out, value, depth)
  }
}

function writeObject(out: BlockHasher, value: JsonObject, depth: number): void {
  out.tag(promptTag.objectOpen)
  for (const key of sortedKeys(value)) {
    if (key === 'cache_control') continue
    out.tag(promptTag.key)
    out.text(key)
    writeJson(out, value[key], depth + 1)
  }
  out.tag(promptTag.objectClose)
}

function sortedKeys(value: JsonObject): string[] {
  const keys = Object.keys(value)
  for (let i = 1; i < keys.length; i++) if (keys[i - 1] > keys[i]) return keys.sort()
  return keys
}
