/** One of two engines dies under load and comes back: what clients saw of it. */
import OpenAI from 'openai'
import type { AgentRun } from '../agents/recorded-agents.ts'
import { servedModel, type VllmServer } from './vllm-server.ts'

export interface KillReport {
  readonly calls: number
  /** Streams that had begun on the dead engine and were broken, each with an error. */
  readonly brokenAfterBegin: number
  /** Calls that failed without a first token: none may. */
  readonly lost: readonly string[]
  /** From its health to the router's word that it may be chosen. */
  readonly routableAfterMs: number
  /** From its health to its first request through the router; null when it was not used again. */
  readonly usedAgainAfterMs: number | null
}

interface EndpointStatus {
  readonly url: string
  readonly routable: boolean
}

export async function killUnderLoad(
  url: string,
  victim: VllmServer,
  runs: readonly AgentRun[],
): Promise<KillReport> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  let calls = 0
  let brokenAfterBegin = 0
  const lost: string[] = []
  let stopped = false
  const usedEndpoints = new Map<string, number>()
  const agent = async (run: AgentRun): Promise<void> => {
    for (let turn = 0; !stopped; turn = (turn + 1) % run.calls.length) {
      calls++
      let begun = false
      try {
        const { data: stream, response } = await client.chat.completions
          .create({
            model: servedModel,
            messages: [...run.calls[turn]!.messages],
            max_tokens: 24,
            stream: true,
          })
          .withResponse()
        usedEndpoints.set(response.headers.get('x-warmpath-endpoint')!, performance.now())
        for await (const chunk of stream) if (chunk.choices[0]?.delta.content) begun = true
      } catch (error) {
        if (begun) brokenAfterBegin++
        else lost.push((error as Error).message)
      }
    }
  }
  const agents = runs.map(agent)
  await until(() => calls >= 3 * runs.length)
  await victim.kill()
  const callsAtKill = calls
  await until(() => calls >= callsAtKill + 4 * runs.length)
  usedEndpoints.delete(victim.url)
  await victim.restart()
  const healthyMs = performance.now()
  await allRoutable(url)
  const routableAfterMs = performance.now() - healthyMs
  await until(() => usedEndpoints.has(victim.url) || performance.now() > healthyMs + 30_000)
  const usedMs = usedEndpoints.get(victim.url)
  stopped = true
  await Promise.all(agents)
  const usedAgainAfterMs = usedMs === undefined ? null : usedMs - healthyMs
  return { calls, brokenAfterBegin, lost, routableAfterMs, usedAgainAfterMs }
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 20))
}

export async function allRoutable(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/status`)
    const status = (await response.json()) as { readonly endpoints: readonly EndpointStatus[] }
    if (status.endpoints.every((endpoint) => endpoint.routable)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
