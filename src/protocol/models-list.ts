/** `/v1/models`: reading an engine's, and rendering the fleet's. */
import type { EngineKind, ServedModel } from '../core/fleet/endpoint.ts'

export interface ModelsList {
  readonly engine: EngineKind
  readonly models: readonly ServedModel[]
}

/** Reads an engine's answer; null when it is not a list of models. */
export function readModelsList(_body: string): ModelsList | null {
  throw new Error('readModelsList is being written')
}

export type ModelsShape = 'openai' | 'anthropic'

/** The merged list, each id once, in the order in which they were first met. */
export function renderModelsList(_models: readonly ServedModel[], _shape: ModelsShape): string {
  throw new Error('renderModelsList is being written')
}
