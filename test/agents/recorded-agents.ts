/** The recorded mini-SWE-agent conversations, as chats that grow turn by turn. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** One call: what the conversation has before it, and what it adds. */
export interface AgentCall {
  readonly messages: readonly Message[]
}

export interface AgentRun {
  readonly id: string
  readonly calls: readonly AgentCall[]
  /** Characters of the longest prompt. */
  readonly charactersMax: number
}

interface RecordedCall {
  readonly run: number
  readonly input: string
  readonly output: string
}

const dataFolder =
  process.env.WARMPATH_DATA ?? join(import.meta.dirname, '..', '..', '..', 'shared', 'data')

/** Where the recording is looked for. */
export const agentTextFile = join(dataFolder, 'agent-text', 'mini-swe-agent.jsonl.gz')

/**
 * The recorded runs, those whose prompts stay within `charactersMax`; null where the file is not
 * there. Each recorded input that extends the one before adds only its new part, as an agent's
 * next message would; one that does not is added whole.
 */
export function recordedAgents(charactersMax: number): AgentRun[] | null {
  if (!existsSync(agentTextFile)) return null
  const lines = gunzipSync(readFileSync(agentTextFile)).toString('utf8').trimEnd().split('\n')
  const runs = new Map<number, RecordedCall[]>()
  for (const line of lines) {
    const call = JSON.parse(line) as RecordedCall
    const calls = runs.get(call.run) ?? []
    runs.set(call.run, calls)
    calls.push(call)
  }
  return [...runs]
    .map(([run, calls]) => conversation(`run-${run}`, calls))
    .filter((run) => run.charactersMax <= charactersMax)
}

function conversation(id: string, recorded: readonly RecordedCall[]): AgentRun {
  const messages: Message[] = []
  const calls: AgentCall[] = []
  let before = ''
  let characters = 0
  for (const { input, output } of recorded) {
    const added = input.startsWith(before) ? input.slice(before.length) || ' ' : input
    before = input
    messages.push({ role: 'user', content: added })
    characters += added.length
    calls.push({ messages: [...messages] })
    messages.push({ role: 'assistant', content: output })
    characters += output.length
  }
  return { id, calls, charactersMax: characters }
}
