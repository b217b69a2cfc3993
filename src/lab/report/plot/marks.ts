import { symbol, symbolsFill } from 'd3-shape'

const paths = symbolsFill.map((type) => symbol(type, 46)()!)

/** Outline of a series' mark: the shape tells series apart where colours cannot. */
export function markPath(index: number): string {
  return paths[index % paths.length]!
}
