/** What a router remembers of its own choices: prompts, but no evictions of any engine. */
import type { Candidate, RequestView } from '../../core/policy/policy.ts'
import { ApproximateIndex } from '../../core/prefix/approximate-index.ts'
import type { TierMatch } from '../../core/prefix/prefix-index.ts'
import { blockTokens } from '../workload/session.ts'

export class RememberedPrefixes {
  readonly #index = new ApproximateIndex()
  readonly #known = new Set<number>()
  readonly #tokensMax: number

  /** @param tokensMax per endpoint; the least recently used go first */
  constructor(tokensMax: number) {
    this.#tokensMax = tokensMax
  }

  /** Share of the prompt that each candidate was sent before. */
  shares(request: RequestView, candidates: readonly Candidate[]): number[] {
    for (const { slot } of candidates) this.#know(slot)
    const out: TierMatch[] = []
    this.#index.match(
      request.chain,
      candidates.map(({ slot }) => slot),
      out,
    )
    const tokens = Math.max(1, request.promptTokens)
    return out.map(({ gpuBlocks }) => Math.min(1, (gpuBlocks * blockTokens) / tokens))
  }

  dispatched(request: RequestView, { slot }: Candidate): void {
    this.#know(slot)
    this.#index.insert(slot, request.chain)
    this.#index.confirm(slot, request.chain)
  }

  #know(slot: number): void {
    if (this.#known.has(slot)) return
    this.#known.add(slot)
    this.#index.add(slot, Math.ceil(this.#tokensMax / blockTokens), 0)
  }
}
