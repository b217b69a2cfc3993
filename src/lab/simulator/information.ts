/** How well the router knows what the engines' caches hold. */

/** Every block stored or evicted, told late, and some never. */
export interface EngineEvents {
  readonly delayMs: number
  /** Share of the events that get lost, 0 to 1. */
  readonly lossShare: number
}

/**
 * `perfect`: the caches as they are at this instant. `approximate`: the router's own index, fed by
 * its own routing, as in production where engines send no events. Else by the engines' events.
 */
export type Information = 'perfect' | 'approximate' | EngineEvents
