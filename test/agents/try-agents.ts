/**
 * Recorded agents through the gateway, `warmpath` beside `round-robin` on emulated fleets alike:
 * `npm run try:agents`. The engines run at their real speed; only the tools' time is left out.
 */
import { compareAgents, renderComparison, summaryOf } from './compare-agents.ts'
import { agentTextFile, recordedAgents } from './recorded-agents.ts'

/**
 * Eight agents at a time on four replicas of an 8B model with room for about four contexts each:
 * a fleet that is busy, not one that is overrun.
 */
const shape = { profile: 'llama-3.1-70b-4xh100', kvTokens: 120_000, replicas: 4, timeScale: 4 }

const runs = recordedAgents(200_000)
if (runs === null) {
  process.stderr.write(`try:agents needs the recording ${agentTextFile}; set WARMPATH_DATA.\n`)
  process.exitCode = 66
} else {
  const calls = runs.reduce((sum, run) => sum + run.calls.length, 0)
  process.stderr.write(`${runs.length} agents, ${calls} calls, on each of two fleets\n`)
  const sides = await compareAgents({
    runs,
    shape,
    atOnce: 8,
    maxTokens: 64,
    policies: ['round-robin', 'warmpath'],
    onCall: (policy, done) => {
      if (done % 50 === 0) process.stderr.write(`${policy}: ${done} of ${calls} calls\n`)
    },
  })
  for (const { result } of sides) {
    for (const error of result.errors.slice(0, 10)) process.stderr.write(`${error}\n`)
  }
  process.stdout.write(`${renderComparison(sides)}\n${summaryOf(sides)}\n`)
  if (sides.some(({ result }) => result.errors.length > 0)) process.exitCode = 1
}
