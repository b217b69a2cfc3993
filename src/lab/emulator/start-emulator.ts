import type { Scheduler } from '../../base/scheduler.ts'
import { realTimeScheduler } from '../../io/real-time.ts'
import type { EngineProfile } from '../engine/profile.ts'
import { profileNamed } from '../engine/profiles.ts'
import type { Personality } from './engine-process.ts'
import type { FaultStep } from './faults.ts'
import { Replica } from './replica.ts'

export interface EmulatorOptions {
  /** A profile or its name. */
  readonly profile: EngineProfile | string
  /** Replicas to start; by default one for each of the ports. */
  readonly replicas?: number
  /** Their ports; by default, and for 0, any free one. */
  readonly ports?: readonly number[]
  readonly host?: string
  /** How many times faster than real time the engines run. */
  readonly timeScale?: number
  /** Decides the answers; the same for all replicas, as their models are. */
  readonly seed?: number
  readonly personality?: Personality
  /** Names of the model, the first of which answers carry; by default the profile's. */
  readonly models?: readonly string[]
  /** Mean length of an answer that nothing limits, in tokens. */
  readonly answerTokensMean?: number
  readonly keepAliveMs?: number
  /** Changes of faults, by time. */
  readonly script?: readonly FaultStep[]
}

/** A fleet of emulated engines. */
export interface Emulator {
  readonly replicas: readonly Replica[]
  /** Their URLs, in order. */
  readonly urls: readonly string[]
  close(): Promise<void>
}

/** Starts a fleet; every replica listens when the promise resolves. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const { ports = [], personality = 'vllm', timeScale = 1, keepAliveMs } = options
  const count = options.replicas ?? Math.max(1, ports.length)
  const base = typeof options.profile === 'string' ? profileNamed(options.profile) : options.profile
  const profile = personality === 'sglang' ? { ...base, hitsInFlight: false } : base
  const wall = realTimeScheduler()
  const scheduler = realTimeScheduler(timeScale)
  const replicas: Replica[] = []
  for (let i = 0; i < count; i++) {
    const replica = new Replica({
      profile,
      personality,
      models: options.models ?? [profile.model],
      seed: options.seed ?? 1,
      answerTokensMean: options.answerTokensMean ?? 120,
      scheduler,
      wall,
      host: options.host ?? '127.0.0.1',
      port: ports[i] ?? 0,
      ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
    })
    replicas.push(replica)
  }
  const close = async (): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.close()))
  }
  try {
    for (const replica of replicas) await replica.listen()
  } catch (error) {
    await close()
    throw error
  }
  const cancels = (options.script ?? []).map((step) => schedule(step, replicas, wall))
  return {
    replicas,
    urls: replicas.map((replica) => replica.url),
    close: async () => {
      for (const cancel of cancels) cancel()
      await close()
    },
  }
}

function schedule(step: FaultStep, replicas: readonly Replica[], wall: Scheduler): () => void {
  return wall.at(step.atMs, () => {
    const targets = step.replica === undefined ? replicas : [replicas[step.replica]]
    for (const replica of targets) {
      if (step.faults !== undefined) replica?.setFaults(step.faults)
      if (step.restart !== undefined) void replica?.restart(step.restart)
    }
  })
}
