import type { Scheduler } from '../../base/scheduler.ts'
import type { EndpointKey } from '../../core/events.ts'
import type { SimulatedEngine } from './simulated-fleet.ts'

/** The state of one endpoint, one value for each time of the timeline. */
export interface EngineTimeline {
  readonly endpoint: EndpointKey
  readonly running: number[]
  readonly waiting: number[]
  /** Share of the KV memory that running requests use. */
  readonly kvUsage: number[]
}

/** The state of the fleet at even intervals. Empty where none was asked for. */
export interface Timeline {
  readonly atMs: number[]
  /** Requests that the router holds. */
  readonly held: number[]
  readonly engines: EngineTimeline[]
}

export interface TimelineSource {
  readonly engines: readonly SimulatedEngine[]
  readonly held: () => number
}

/** Writes the state down every `everyMs`, for as long as the run goes on. */
export function keepTimeline(
  everyMs: number,
  scheduler: Scheduler,
  { engines, held }: TimelineSource,
): Timeline {
  const timeline: Timeline = { atMs: [], held: [], engines: [] }
  const byEndpoint = new Map<EndpointKey, EngineTimeline>()
  const sample = (): void => {
    const before = timeline.atMs.length
    timeline.atMs.push(scheduler.nowMs())
    timeline.held.push(held())
    for (const { member } of engines) {
      if (byEndpoint.has(member.endpoint)) continue
      const zeros = new Array<number>(before).fill(0)
      const { endpoint } = member
      const line = { endpoint, running: [...zeros], waiting: [...zeros], kvUsage: zeros }
      byEndpoint.set(endpoint, line)
      timeline.engines.push(line)
    }
    for (const line of timeline.engines) write(line, engines)
    scheduler.at(scheduler.nowMs() + everyMs, sample)
  }
  scheduler.at(scheduler.nowMs() + everyMs, sample)
  return timeline
}

/** Of several engines that ran at one address the last counts. */
function write(line: EngineTimeline, engines: readonly SimulatedEngine[]): void {
  const engine = engines.findLast(({ member }) => member.endpoint === line.endpoint)
  const model = engine?.alive === true ? engine.model : null
  line.running.push(model?.running ?? 0)
  line.waiting.push(model?.waiting ?? 0)
  line.kvUsage.push(model?.pool.usage ?? 0)
}
