import type { LogFigures } from './log-figures.ts'
import { taskKinds } from './logged-task.ts'

const kindWords = {
  held: 'waiting at the router',
  queue: 'waiting in an engine',
  prefill: 'having the prompt read',
  decode: 'having the answer written',
  tool: 'between calls, with tools and people',
  unanswered: 'in calls that were never answered',
} as const

/** What happened, in one sentence that needs no glossary. */
export function logSentence({ all, tasks, time, cost, lines }: LogFigures): string {
  if (time === null) return 'No request in the log.'
  const { requests, cachedShare, ttftMs } = all
  const answered = percent(requests.done / requests.all)
  const cached = cachedShare === null ? '' : `, ${percent(cachedShare)} of their prompts from cache`
  const price =
    cost === null || cost.perCompletedTask === null
      ? ''
      : `, at ${cost.perCompletedTask.toFixed(cost.perCompletedTask < 1 ? 4 : 2)} each`
  const most = longestKind(tasks.meanPhases)
  const task =
    tasks.all === 0
      ? ''
      : ` ${whole(tasks.completed)} of ${whole(tasks.all)} tasks were completed${price}; half of ` +
        `them took ${duration(tasks.taskMs.p50)} at most, most of it ${kindWords[most]}.`
  return (
    `In ${duration(time.ms)}, ${answered} of ${whole(requests.all)} requests were ` +
    `answered${cached}; half of the answers began within ${duration(ttftMs.p50)}, 99 % within ` +
    `${duration(ttftMs.p99)}.${task}${badText(lines.bad)}`
  )
}

function badText(bad: number): string {
  if (bad === 0) return ''
  return bad === 1 ? ' One line could not be read.' : ` ${whole(bad)} lines could not be read.`
}

function whole(count: number): string {
  return count.toLocaleString('en-US')
}

function longestKind(phases: LogFigures['tasks']['meanPhases']): keyof typeof kindWords {
  if (phases === null) return 'tool'
  return taskKinds.reduce((most, kind) => (phases[kind] > phases[most] ? kind : most))
}

/** `0.41 s`, `12 s`, `3.5 min`, `2.0 h`. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  const seconds = ms / 1_000
  if (seconds < 10) return `${seconds.toFixed(2)} s`
  if (seconds < 120) return `${seconds.toFixed(0)} s`
  return seconds < 7_200 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3_600).toFixed(1)} h`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
