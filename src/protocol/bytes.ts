/** Below this many bytes a loop beats the call into native code. */
const loopBytesMax = 128

/** Whether `wanted` stands at `at`. */
export function holdsAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  const { length } = wanted
  if (at < 0 || at + length > bytes.length) return false
  if (length > loopBytesMax) return bytes.compare(wanted, 0, length, at, at + length) === 0
  for (let i = 0; i < length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}
