import type { Duplex } from 'node:stream'

/**
 * Joins two connections after an upgrade, bytes untouched: each side is read only as fast as the
 * other takes, and the end of one half is passed on while the other half goes on. When either side
 * breaks, the other is destroyed. `closed` is called once, when both are gone; it says whether both
 * had ended in good order.
 */
export function tunnel(a: Duplex, b: Duplex, closed: (inGoodOrder: boolean) => void): void {
  let open = 2
  let inGoodOrder = true
  const watch = (side: Duplex, other: Duplex): void => {
    side.on('error', () => {})
    side.on('close', () => {
      if (!(side.readableEnded && side.writableFinished)) {
        inGoodOrder = false
        other.destroy()
      }
      open--
      if (open === 0) closed(inGoodOrder)
    })
    if (side.destroyed) other.destroy()
  }
  watch(a, b)
  watch(b, a)
  a.pipe(b)
  b.pipe(a)
}
