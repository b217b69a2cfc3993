/** One side of a comparison: an emulated fleet behind a gateway of its own. */
import { defaultConfig } from '../../src/config/config.ts'
import type { PolicyName } from '../../src/core/policy/registry.ts'
import { startGateway } from '../../src/drivers/gateway/start-gateway.ts'
import { startEmulator } from '../../src/lab/emulator/start-emulator.ts'
import { profileNamed } from '../../src/lab/engine/profiles.ts'
import { silentLogger } from '../../src/observe/logger.ts'

export interface FleetSide {
  readonly policy: PolicyName
  readonly url: string
  readonly model: string
  close(): Promise<void>
}

export interface FleetShape {
  readonly profile: string
  readonly kvTokens: number
  readonly replicas: number
  readonly timeScale: number
}

export async function startSide(policy: PolicyName, shape: FleetShape): Promise<FleetSide> {
  const profile = { ...profileNamed(shape.profile), kvTokens: shape.kvTokens }
  const { replicas, timeScale } = shape
  const emulator = await startEmulator({ profile, replicas, timeScale, host: '127.0.0.1' })
  const endpoints = emulator.urls.map((url) => ({ url }))
  const config = { ...defaultConfig, host: '127.0.0.1', port: 0, policy, endpoints }
  const gateway = await startGateway(config, silentLogger)
  await routable(gateway.address, replicas)
  return {
    policy,
    url: gateway.address,
    model: profile.model,
    async close() {
      await gateway.close()
      await emulator.close()
    },
  }
}

interface Status {
  readonly endpoints: readonly { readonly routable: boolean }[]
}

/** Resolves when that many endpoints may be chosen. */
export async function routable(url: string, count: number): Promise<void> {
  for (;;) {
    const status = (await (await fetch(`${url}/status`)).json()) as Status
    if (status.endpoints.filter((endpoint) => endpoint.routable).length >= count) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
