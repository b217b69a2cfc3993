import type { TestContext } from 'node:test'
import type { UpstreamOptions } from '../../src/io/http1/upstream.ts'
import { UpstreamPool } from '../../src/io/http1/upstream-pool.ts'
import { ManualScheduler } from './manual-scheduler.ts'
import { type ScriptedConnection, ScriptedServer } from './scripted-server.ts'

export interface UpstreamStage {
  readonly server: ScriptedServer
  readonly pool: UpstreamPool
  readonly clock: ManualScheduler
}

/** A scripted server and a pool to it on a clock that stands still; both end with the test. */
export async function upstreamStage(
  t: TestContext,
  script: (connection: ScriptedConnection) => unknown,
  options: UpstreamOptions = {},
): Promise<UpstreamStage> {
  const server = await ScriptedServer.start(script)
  const clock = new ManualScheduler()
  const pool = new UpstreamPool(server.origin, options, clock)
  t.after(async () => {
    pool.close()
    await server.stop()
  })
  return { server, pool, clock }
}
