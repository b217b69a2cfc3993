import type { EndpointKey } from '../../core/events.ts'
import type { FleetMember } from './simulated-fleet.ts'

/** What happens to an endpoint during a run. Times in ms of the run. */
export type FleetChange =
  /** Every step takes `factor` times as long from now on; 1 is well again. */
  | {
      readonly type: 'slow'
      readonly atMs: number
      readonly endpoint: EndpointKey
      readonly factor: number
    }
  /** The process is gone, with all that runs on it and all that it held. */
  | { readonly type: 'die'; readonly atMs: number; readonly endpoint: EndpointKey }
  /** A new process at the address of one that died: as fast as it was, and empty. */
  | { readonly type: 'return'; readonly atMs: number; readonly endpoint: EndpointKey }
  | { readonly type: 'join'; readonly atMs: number; readonly member: FleetMember }
  /** It gets no new work, and leaves when what it has is done. */
  | { readonly type: 'leave'; readonly atMs: number; readonly endpoint: EndpointKey }
  /** A new router takes over what comes; the old one sees to what it has, and then is gone. */
  | { readonly type: 'router-restart'; readonly atMs: number }
