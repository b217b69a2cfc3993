/**
 * Two real vLLM servers behind the gateway: `npm run test:vllm`. Multi-turn agents through the
 * official clients, `warmpath` beside `round-robin` on the same two servers; then one of them is
 * killed under load and started again. A few minutes on two cores; the first run installs vLLM.
 */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { seededRandom } from '../../src/base/random.ts'
import { textTable } from '../../src/commands/text-table.ts'
import { defaultConfig } from '../../src/config/config.ts'
import type { PolicyName } from '../../src/core/policy/registry.ts'
import { startGateway } from '../../src/drivers/gateway/start-gateway.ts'
import { prose } from '../../src/lab/demo/agent-text.ts'
import { silentLogger } from '../../src/observe/logger.ts'
import { renderComparison } from '../agents/compare-agents.ts'
import { type DriveResult, driveAgents } from '../agents/drive-agents.ts'
import { type AgentRun, type Message, recordedAgents } from '../agents/recorded-agents.ts'
import { allRoutable, killUnderLoad } from './kill-under-load.ts'
import { servedModel, startVllm, type VllmServer } from './vllm-server.ts'

const folder =
  process.env.WARMPATH_ENGINES ?? join(import.meta.dirname, '..', '..', '.cache', 'engines')
const ports = [18_201, 18_202]
const atOnce = 8
/** A model of random weights may well begin with its end. */
const extra = { ignore_eos: true }
const charactersMax = 85_000

/** Where there is no recording: conversations of the same sizes, made up. */
function madeUpAgents(): AgentRun[] {
  return Array.from({ length: 10 }, (_, i) => {
    const random = seededRandom(100 + i)
    const messages: Message[] = [{ role: 'user', content: prose(random, 4_000) }]
    const calls = Array.from({ length: 10 }, () => {
      const call = { messages: [...messages] }
      messages.push({ role: 'assistant', content: prose(random, 80) })
      messages.push({ role: 'user', content: prose(random, 900) })
      return call
    })
    return { id: `made-up-${i}`, calls, charactersMax: 0 }
  })
}

async function withGateway<T>(
  policy: PolicyName,
  servers: readonly VllmServer[],
  use: (url: string) => Promise<T>,
): Promise<T> {
  const endpoints = servers.map(({ url }) => ({ url }))
  const config = { ...defaultConfig, host: '127.0.0.1', port: 0, policy, endpoints }
  const gateway = await startGateway(config, silentLogger)
  try {
    await allRoutable(gateway.address)
    return await use(gateway.address)
  } finally {
    await gateway.close()
  }
}

/** A conversation of three turns through `/v1/messages`, streamed and whole; the errors. */
async function anthropicAgents(url: string): Promise<{ calls: number; errors: string[] }> {
  const client = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 })
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  const errors: string[] = []
  let calls = 0
  for (let turn = 0; turn < 6; turn++) {
    messages.push({ role: 'user', content: prose(seededRandom(turn), 300) })
    const request = { model: servedModel, max_tokens: 16, messages: [...messages] }
    calls++
    try {
      const answer =
        turn % 2 === 0
          ? await client.messages.stream(request).finalMessage()
          : await client.messages.create(request)
      const block = answer.content[0]
      messages.push({ role: 'assistant', content: block?.type === 'text' ? block.text : ' ' })
    } catch (error) {
      errors.push((error as Error).message)
      messages.pop()
    }
  }
  return { calls, errors }
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

execFileSync(join(import.meta.dirname, 'prepare.sh'), [folder], { stdio: 'inherit' })
say('starting two vLLM servers (up to a minute) …')
const servers = await Promise.all(ports.map((port) => startVllm(folder, port)))
let failed = false
try {
  const runs = (recordedAgents(charactersMax) ?? madeUpAgents()).slice(0, 10)
  const calls = runs.reduce((sum, run) => sum + run.calls.length, 0)
  say(
    `${runs.length} agents, ${calls} calls for each policy, ${atOnce} at once, half of them streamed`,
  )
  const sides: { policy: PolicyName; result: DriveResult }[] = []
  for (const policy of ['round-robin', 'warmpath', 'round-robin', 'warmpath'] as const) {
    for (const server of servers) await server.emptyCache()
    const result = await withGateway(policy, servers, (url) =>
      driveAgents({ url, model: servedModel, runs, atOnce, maxTokens: 16, extra, mixed: true }),
    )
    for (const error of result.errors.slice(0, 5)) say(`  ${policy}: ${error}`)
    failed ||= result.errors.length > 0
    sides.push({ policy, result })
  }
  say(renderComparison(sides))
  const messages = await withGateway('warmpath', servers, anthropicAgents)
  say(
    `\n/v1/messages through the Anthropic client: ${messages.calls} calls, ${messages.errors.length} errors`,
  )
  for (const error of messages.errors) say(`  ${error}`)
  failed ||= messages.errors.length > 0
  const kill = await withGateway('warmpath', servers, (url) =>
    killUnderLoad(url, servers[1]!, runs.slice(0, atOnce)),
  )
  const rows = [
    ['calls under load', kill.calls],
    ['lost before a first token', kill.lost.length],
    ['streams broken after it, with an error', kill.brokenAfterBegin],
    ['may be chosen again after its health, ms', kill.routableAfterMs.toFixed(0)],
    ['used again after its health, ms', kill.usedAgainAfterMs?.toFixed(0) ?? 'never'],
  ]
  say(`\none server killed with SIGKILL under load, and started again on its port\n`)
  say(textTable(['', ''], rows))
  for (const error of kill.lost) say(`  lost: ${error}`)
  failed ||= kill.lost.length > 0 || kill.usedAgainAfterMs === null
  const best = (policy: PolicyName): number =>
    Math.min(
      ...sides.filter((side) => side.policy === policy).map(({ result }) => result.makespanMs),
    )
  const times = (best('round-robin') / best('warmpath')).toFixed(2)
  const word = failed ? 'FAILED' : 'passed'
  say(
    `\n${word}: the agents were done ${times} times as fast as under round-robin (better of two passes)`,
  )
} finally {
  for (const server of servers) await server.kill()
}
process.exitCode = failed ? 1 : 0
