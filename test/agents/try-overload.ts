/**
 * More agents than the memory of an emulated fleet holds, through HTTP, under several policies in
 * turn: `npm run try:overload`. What counts is what is done: tasks, and prompt tokens a second.
 */
import { parseArgs } from 'node:util'
import { textTable } from '../../src/commands/text-table.ts'
import { type Config, defaultConfig } from '../../src/config/config.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { startGateway } from '../../src/drivers/gateway/start-gateway.ts'
import { realTimeScheduler } from '../../src/io/real-time.ts'
import { armNamed } from '../../src/lab/arms/arms.ts'
import { AgentLoad } from '../../src/lab/demo/agent-load.ts'
import { startEmulator } from '../../src/lab/emulator/start-emulator.ts'
import { profileNamed } from '../../src/lab/engine/profiles.ts'
import { silentLogger } from '../../src/observe/logger.ts'
import type { RouterStatus } from '../../src/observe/status.ts'
import { routable } from './fleet-side.ts'

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '48' },
    seconds: { type: 'string', default: '60' },
    'time-scale': { type: 'string', default: '2' },
  },
})
const agents = Number(values.agents)
const seconds = Number(values.seconds)
const timeScale = Number(values['time-scale'])

const replicas = 4
const profile = { ...profileNamed('qwen3-32b-2xh100'), kvTokens: 100_000 }

interface Arm {
  readonly name: string
  readonly config?: Partial<Config>
  readonly policy?: () => Policy
}

const sglang = armNamed('sglang-cache-aware').variants[0]!
const arms: readonly Arm[] = [
  { name: 'round-robin', config: { policy: 'round-robin' } },
  { name: 'session-affinity', config: { policy: 'session-affinity' } },
  { name: 'sglang-cache-aware', config: { admission: 'none' }, policy: sglang.policy },
  { name: 'warmpath, admission none', config: { admission: 'none' } },
  { name: 'warmpath' },
]

const scheduler = realTimeScheduler()
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => scheduler.at(scheduler.nowMs() + ms, resolve))

async function run(arm: Arm): Promise<(string | number)[]> {
  const emulator = await startEmulator({ profile, replicas, timeScale, host: '127.0.0.1' })
  const endpoints = emulator.urls.map((url) => ({ url })) as Config['endpoints']
  const config = { ...defaultConfig, host: '127.0.0.1', port: 0, endpoints, ...arm.config }
  const gateway = await startGateway(config, silentLogger, scheduler, arm.policy)
  const url = gateway.address
  await routable(url, replicas)
  const load = new AgentLoad({ url, model: profile.model, agents, seed: 1 }, scheduler)
  const cpu = process.cpuUsage()
  load.start()
  await pause(seconds * 1_000)
  const { user, system } = process.cpuUsage(cpu)
  const status = (await (await fetch(`${url}/status`)).json()) as RouterStatus
  const { tasks, promptTokens, cachedTokens, putOff, errors } = load
  const ttftMs = [...load.ttftMs].sort((a, b) => a - b)
  const taskMs = [...load.taskMs].sort((a, b) => a - b)
  await load.stop()
  await gateway.close()
  await emulator.close()
  if (load.lastError !== null) process.stderr.write(`${arm.name}: ${load.lastError}\n`)
  return [
    arm.name,
    tasks,
    Math.round(promptTokens / seconds),
    ((100 * cachedTokens) / Math.max(1, promptTokens)).toFixed(1),
    at(ttftMs, 0.5),
    at(ttftMs, 0.9),
    at(taskMs, 0.5),
    at(taskMs, 0.9),
    status.counters.held,
    putOff,
    errors,
    ((user + system) / (seconds * 10_000)).toFixed(0),
  ]
}

function at(ascending: readonly number[], p: number): string {
  const value = ascending[Math.ceil(p * ascending.length) - 1]
  return value === undefined ? '–' : (value / 1_000).toFixed(1)
}

const columns = ['policy', 'tasks', 'prompt tokens/s', 'cached %', 'TTFT p50 s', 'p90']
columns.push('task p50 s', 'p90', 'held', 'put off', 'errors', 'CPU % of a core')
const rows: (string | number)[][] = []
for (const arm of arms) {
  process.stderr.write(`${arm.name}: ${seconds} s …\n`)
  rows.push(await run(arm))
}
process.stdout.write(`${textTable(columns, rows)}\n`)
process.stdout.write(
  `${agents} agents for ${seconds} s on ${replicas} engines that run ${timeScale} times as fast as ` +
    'real ones. Times count from when the agent was ready; calls that were still open do not count.\n',
)
