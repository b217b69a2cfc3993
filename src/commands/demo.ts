import type { Command } from 'commander'
import { exitCodes } from '../base/exit-codes.ts'
import type { Scheduler } from '../base/scheduler.ts'
import type { AgentLoad } from '../lab/demo/agent-load.ts'
import type { ReplicaView, SideView } from '../lab/demo/demo-view.ts'
import type { RouterStatus } from '../observe/status.ts'
import { numberArgument } from './number-argument.ts'
import { stopSignal } from './stop-signal.ts'

const help = `
Starts two fleets of four emulated engines, each behind a gateway of its own: one routes in turn,
the other is Warmpath. The same agents work on both. No GPU, no download.

Examples:
  warmpath demo                  # until Ctrl-C
  warmpath demo --duration 60    # a minute, then a summary
  warmpath demo --overload       # more agents than the memory of the fleet holds

While it runs, the key o sends more agents than the fleet has memory for, and calls them back.
  curl http://127.0.0.1:8080/status
  curl http://127.0.0.1:8080/v1/models
`

interface DemoOptions {
  readonly port: number
  readonly duration: number
  readonly agents: number
  readonly seed: number
  readonly profile: string
  readonly timeScale: number
  readonly overload?: true
}

interface Side {
  readonly policy: 'round-robin' | 'warmpath'
  readonly url: string
  readonly load: AgentLoad
  close(): Promise<void>
}

const replicas = 4
/** KV memory of one replica: room for about six of the demo’s contexts. */
const kvTokens = 100_000
/** With so many times the agents their contexts outgrow the memory of the fleet. */
const overloadFactor = 4
const redrawMs = 500
/** Where nobody watches, a line now and then is enough. */
const lineMs = 5_000

/** `warmpath demo`: what routing by cached context does, seen live. */
export function register(program: Command): void {
  program
    .command('demo')
    .summary('see it work: emulated fleets, agents, a live view')
    .description('Shows Warmpath beside round-robin on emulated fleets, under the same agents.')
    .option('--port <number>', 'port of the Warmpath side', numberArgument(0, 65_535), 8080)
    .option(
      '--duration <seconds>',
      'end by itself; 0 runs until Ctrl-C',
      numberArgument(0, 86_400),
      0,
    )
    .option('--agents <number>', 'agents that work at once', numberArgument(1, 200), 12)
    .option('--seed <number>', 'decides what the agents say', numberArgument(0, 1e9), 1)
    .option('--profile <name|file>', 'model and devices to imitate', 'qwen3-32b-2xh100')
    .option(
      '--time-scale <number>',
      'how many times faster than real time the engines run',
      numberArgument(0.01, 1000, 'fraction'),
      1,
    )
    .option('--overload', 'start with more agents than the fleet has memory for')
    .addHelpText('after', help)
    .action(demo)
}

async function demo(options: DemoOptions): Promise<void> {
  const { realTimeScheduler } = await import('../io/real-time.ts')
  const scheduler = realTimeScheduler()
  const stop = stopSignal()
  process.stderr.write('starting two fleets of four emulated engines …\n')
  const sides = [
    await startSide('round-robin', 0, options, scheduler),
    await startSide('warmpath', options.port, options, scheduler),
  ]
  process.stderr.write(`try: curl ${sides[1]!.url}/status\nCtrl-C ends it.\n\n`)
  const overload = (): void => {
    for (const { load } of sides) {
      const { agents } = options
      load.agents = load.agents === agents ? overloadFactor * agents : agents
    }
  }
  if (options.overload) overload()
  onKey('o', overload)
  for (const { load } of sides) load.start()
  const ended = Promise.withResolvers<void>()
  stop.addEventListener('abort', () => ended.resolve())
  if (options.duration > 0) {
    scheduler.at(scheduler.nowMs() + options.duration * 1_000, ended.resolve)
  }
  const views = await watch(sides, scheduler, ended.promise)
  for (const { load } of sides) await load.stop()
  for (const side of sides) await side.close()
  await summarise(views)
  const failed = sides.reduce((sum, { load }) => sum + load.errors, 0)
  for (const { load } of sides) if (load.lastError) process.stderr.write(`${load.lastError}\n`)
  process.exitCode = failed === 0 ? exitCodes.ok : exitCodes.failed
}

/** A key of the terminal; Ctrl-C stays what it is. */
function onKey(key: string, run: () => void): void {
  const { stdin } = process
  if (!stdin.isTTY || !process.stdout.isTTY) return
  stdin.setRawMode(true)
  stdin.unref()
  stdin.on('data', (typed: Buffer) => {
    if (typed.includes(key)) run()
    if (typed.includes('\u0003')) process.kill(process.pid, 'SIGINT')
  })
  process.on('exit', () => stdin.setRawMode(false))
}

async function startSide(
  policy: Side['policy'],
  port: number,
  options: DemoOptions,
  scheduler: Scheduler,
): Promise<Side> {
  const { defaultConfig } = await import('../config/config.ts')
  const { startGateway } = await import('../drivers/gateway/start-gateway.ts')
  const { AgentLoad } = await import('../lab/demo/agent-load.ts')
  const { startEmulator } = await import('../lab/emulator/start-emulator.ts')
  const { profileArgument } = await import('./profile-argument.ts')
  const { silentLogger } = await import('../observe/logger.ts')
  const profile = { ...profileArgument(options.profile), kvTokens }
  const { timeScale, agents, seed } = options
  const emulator = await startEmulator({ profile, replicas, timeScale, host: '127.0.0.1' })
  const endpoints = emulator.urls.map((url) => ({ url }))
  const config = { ...defaultConfig, host: '127.0.0.1', port, policy, endpoints }
  const gateway = await startGateway(config, silentLogger)
  const url = gateway.address
  await untilRoutable(url, scheduler)
  return {
    policy,
    url,
    load: new AgentLoad({ url, model: profile.model, agents, seed }, scheduler),
    async close() {
      await gateway.close()
      await emulator.close()
    },
  }
}

async function statusOf(url: string): Promise<RouterStatus> {
  return (await (await fetch(`${url}/status`)).json()) as RouterStatus
}

async function untilRoutable(url: string, scheduler: Scheduler): Promise<void> {
  for (;;) {
    const { endpoints } = await statusOf(url)
    if (endpoints.every((endpoint) => endpoint.routable)) return
    await new Promise<void>((resolve) => scheduler.at(scheduler.nowMs() + 50, resolve))
  }
}

/** Draws until the end; the last views. */
async function watch(
  sides: readonly Side[],
  scheduler: Scheduler,
  ended: Promise<void>,
): Promise<SideView[]> {
  const { renderDemo, verdict } = await import('../lab/demo/demo-view.ts')
  const startMs = scheduler.nowMs()
  const terminal = process.stdout.isTTY === true
  let over = false
  void ended.then(() => {
    over = true
  })
  for (;;) {
    const pause = new Promise<void>((resolve) => {
      scheduler.at(scheduler.nowMs() + (terminal ? redrawMs : lineMs), resolve)
    })
    await Promise.race([pause, ended])
    const elapsedS = (scheduler.nowMs() - startMs) / 1_000
    const views = await Promise.all(sides.map((side) => viewOf(side, elapsedS)))
    // Home and clear to the end: redrawing in place does not flicker.
    if (terminal) process.stdout.write(`\u001b[H\u001b[J${renderDemo(views, elapsedS)}`)
    else process.stdout.write(`${elapsedS.toFixed(0)} s  ${verdict(views[0]!, views[1]!)}\n`)
    if (over) return views
  }
}

async function viewOf(side: Side, elapsedS: number): Promise<SideView> {
  const { load, policy, url } = side
  const { endpoints, heldRequests, admission } = await statusOf(url)
  const ascending = [...load.ttftMs].sort((a, b) => a - b)
  const at = (p: number): number => ascending[Math.ceil(p * ascending.length) - 1] ?? Number.NaN
  return {
    policy,
    url,
    calls: load.calls,
    errors: load.errors,
    hitShare: load.cachedTokens / Math.max(1, load.promptTokens),
    ttftP50Ms: at(0.5),
    ttftP90Ms: at(0.9),
    callsPerMinute: (load.calls / Math.max(1, elapsedS)) * 60,
    tasks: load.tasks,
    agents: load.agents,
    held: heldRequests,
    places: admission?.places ?? null,
    replicas: endpoints.map(
      (endpoint): ReplicaView => ({
        url: endpoint.url,
        routable: endpoint.routable,
        inFlight: endpoint.inFlight,
        queued: endpoint.queued,
        cachedTokens: endpoint.cachedTokens,
        kvCapacityTokens: endpoint.kvCapacityTokens ?? kvTokens,
      }),
    ),
  }
}

async function summarise(views: readonly SideView[]): Promise<void> {
  const { textTable } = await import('./text-table.ts')
  const { verdict } = await import('../lab/demo/demo-view.ts')
  const seconds = (ms: number): string => (ms / 1_000).toFixed(2)
  const rows = views.map((view) => [
    view.policy,
    view.calls,
    view.tasks,
    view.errors,
    (100 * view.hitShare).toFixed(1),
    seconds(view.ttftP50Ms),
    seconds(view.ttftP90Ms),
  ])
  const columns = ['policy', 'calls', 'tasks', 'errors', 'from cache %', 'TTFT p50 s', 'TTFT p90 s']
  process.stdout.write(`\n${textTable(columns, rows)}\n${verdict(views[0]!, views[1]!)}\n`)
}
