export interface Origin {
  readonly secure: boolean
  /** Without the brackets of an IPv6 address. */
  readonly host: string
  readonly port: number
  /** What `Host` says. */
  readonly authority: string
}

/** Reads `http://host:port` or `https://host:port`. Throws TypeError on anything else. */
export function parseOrigin(text: string): Origin {
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  if (!secure && url.protocol !== 'http:') {
    throw new TypeError(`not an http or https origin: ${text}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('an origin holds no user or password')
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`an origin has no path: ${text}`)
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return { secure, host, port, authority: url.host }
}
