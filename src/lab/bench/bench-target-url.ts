/** `http://host:8000`, `https://host/v1`, `https://host/team/v1/`: origin, and path up to `/v1`. */
export function splitUrl(url: string): { readonly origin: string; readonly base: string } {
  const { origin, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '')
  return { origin, base: path.endsWith('/v1') ? path : `${path}/v1` }
}

/** Without what all have, for tables. */
export function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/+$/, '')
}
