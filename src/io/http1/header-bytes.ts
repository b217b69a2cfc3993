/** Which bytes RFC 9110 section 5 allows where. 1: allowed. */

/** `tchar`: header names and methods. */
export const tokenBytes = byteTable("!#$%&'*+-.^_`|~", (byte) => isAlphanumeric(byte))

/** Field values and reason phrases: TAB, printable ASCII and obs-text, so no CR, LF, NUL or DEL. */
export const valueBytes = byteTable('\t', (byte) => (byte >= 0x20 && byte <= 0x7e) || byte >= 0x80)

/** For strings on their way out; a character above 0xff would be cut to some other byte. */
export const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
export const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/
export const targetPattern = /^[\x21-\x7e\x80-\xff]+$/

function isAlphanumeric(byte: number): boolean {
  const lower = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x7a)
}

function byteTable(extra: string, allowed: (byte: number) => boolean): Uint8Array {
  const table = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) {
    if (allowed(byte) || extra.includes(String.fromCharCode(byte))) table[byte] = 1
  }
  return table
}
