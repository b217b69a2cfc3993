/** Coding agents, as llm-d publishes them: what was run, and what came out. */

export interface AgentsPoint {
  readonly sessions: number
  readonly totalPerSecond: number
  readonly ttftP50S: number
  readonly ttftP90S: number | null
  readonly tpotP50Ms: number | null
}

/** Runs with one router on one set-up, each with its number of sessions at once. */
export interface AgentsSeries {
  readonly title: string
  readonly arm: string
  readonly variant?: string
  readonly fleet: string
  /** Options of the workload `code-generation-replay`. */
  readonly workload: string
  readonly seedOf: (sessions: number) => number
  /** The set-up, and what of it is assumed. */
  readonly note: string
  readonly points: readonly AgentsPoint[]
}

function points(
  rows: readonly (readonly [number, number, number, number | null, number | null])[],
): AgentsPoint[] {
  return rows.map(([sessions, totalPerSecond, ttftP50S, ttftP90S, tpotP50Ms]) => {
    return { sessions, totalPerSecond, ttftP50S, ttftP90S, tpotP50Ms }
  })
}

const engine = '8xqwen3-coder-480b-tpu-v7x'

/**
 * KV memory of an engine that offloads: 1,570 blocks of 256 tokens (the router's settings size its
 * index as "num_gpu_blocks × 1000"), and 10,000 such blocks in host memory (the server's manifest).
 */
const offloading = `${engine}:kvTokens=401920:hostTokens=2560000`

/** Offloading sets 1,000 blocks aside for its transfers; without it they hold contexts. */
const onDeviceOnly = `${engine}:kvTokens=657920`

/**
 * Qwen3-Coder-480B on eight replicas of TPU v7x: guides/agentic-serving/qwen3-coder-480b-tpu.md at
 * 09bc1b85, and its pictures; TTFT p90 and TPOT of guides/predicted-latency-routing. The figures at
 * 40 sessions stand in tables, the others were read off the pictures, to about 2 %.
 *
 * The page compares the first with the last: runs with other seeds, so other prompts, and with
 * other memory. The blend is an earlier state of the page (ce9b73f0).
 */
export const publishedAgents: readonly AgentsSeries[] = [
  {
    title: 'Kubernetes service',
    arm: 'round-robin',
    fleet: onDeviceOnly,
    workload: 'cutLongPrompts=0',
    seedOf: () => 42,
    note:
      'Seed 42. Assumed: no offloading, and a load generator that does not cut prompts, so that ' +
      'engines refuse those over 262,144 tokens.',
    points: points([
      [5, 3_400, 0.78, 6.8, 25.6],
      [10, 14_000, 1.69, 45, 30.9],
      [20, 23_200, 8.43, 50, 29.6],
      [30, 32_500, 16.2, 63, 35.9],
      [40, 37_424, 17.391, 69, 48],
    ]),
  },
  {
    title: "llm-d's blend 3/2/2 (until June 2026)",
    arm: 'llm-d-blend',
    fleet: onDeviceOnly,
    workload: 'cutLongPrompts=0',
    seedOf: () => 42,
    note: 'The same runs with another router, and the same assumptions.',
    points: points([
      [5, 3_400, 0.765, null, null],
      [10, 16_100, 1.115, null, null],
      [20, 32_000, 1.21, null, null],
      [30, 55_300, 1.38, null, null],
      [40, 78_954, 1.314, null, null],
    ]),
  },
  {
    title: "llm-d's affinity filter and token load",
    arm: 'llm-d-affinity',
    variant: 'host counted',
    fleet: offloading,
    workload: 'cutLongPrompts=1',
    seedOf: (sessions) => 7 + sessions,
    note: 'Seed 7 plus the sessions. Memory as in the manifests: 402k tokens, 2.56M in the host.',
    points: points([
      [5, 14_800, 0.73, 1.7, 24.2],
      [10, 42_350, 0.93, 2.25, 26.9],
      [20, 28_200, 1.127, 10.8, 29.4],
      [30, 61_400, 0.864, 3.45, 27.9],
      [40, 93_353, 2.474, 34, 31.1],
      [50, 84_700, 1.256, 18, 29.3],
      [60, 102_400, 2.384, 29, 31.2],
      [70, 113_300, 4.239, 49, 32],
      [80, 115_000, 23.58, 79, 32.9],
    ]),
  },
]
