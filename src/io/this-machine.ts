import { availableParallelism, cpus, totalmem } from 'node:os'

/** The machine in words, for whoever reads figures that were taken on it. */
export function thisMachine(): string {
  const model = cpus()[0]?.model.trim().replaceAll(/\s+/g, ' ') ?? 'unknown processor'
  const gib = Math.round(totalmem() / 2 ** 30)
  const node = `Node ${process.versions.node} on ${process.platform}-${process.arch}`
  return `${availableParallelism()} × ${model}, ${gib} GiB, ${node}`
}
