import type { BenchFigures } from './bench-figures.ts'
import type { BenchSlo } from './bench-slo.ts'
import { shortUrl } from './bench-target-url.ts'
import type { TargetComparison } from './compare-targets.ts'
import type { Knee } from './knee.ts'
import type { StageFigures } from './stage-figures.ts'
import { loadText } from './stage-load.ts'

/** What it all comes to, in one sentence that needs no glossary. */
export function benchSentence(figures: BenchFigures): string {
  const late = figures.stages.filter((stage) => !stage.keptRate).length
  const caution =
    late > 0
      ? `In ${late} of ${figures.stages.length} stages the bench itself could not send in time, ` +
        'so those say little of the server. '
      : ''
  return `${figures.cut ? 'Stopped early. ' : ''}${caution}${finding(figures)}`
}

function finding(figures: BenchFigures): string {
  const { knees, comparisons, stages, slo } = figures
  if (stages.length === 0) return 'Nothing was measured.'
  if (knees.length === 2) return kneesSentence(knees[0]!, knees[1]!, slo)
  if (knees.length === 1) return kneeSentence(knees[0]!, figures)
  if (comparisons.length > 0) return comparisonSentence(comparisons.at(-1)!, figures)
  return stageSentence(stages.at(-1)!, slo)
}

function kneeSentence({ url, perSecond, failedAt }: Knee, { stages, slo }: BenchFigures): string {
  const shareAt = (rate: number): string =>
    percent(stages.find(({ load }) => load.kind === 'rate' && load.perSecond === rate)!)
  if (failedAt === null) {
    return perSecond === null
      ? `No rate could be judged at ${shortUrl(url)}.`
      : `${shortUrl(url)} kept ${objectives(slo)} at every rate tried, up to ${perSecond} ` +
          'requests/s: it may bear more.'
  }
  if (perSecond === null) {
    return (
      `${shortUrl(url)} does not bear ${failedAt} requests/s: ${shareAt(failedAt)} of them kept ` +
      `${objectives(slo)}.`
    )
  }
  return (
    `${shortUrl(url)} bears ${perSecond} requests/s with ${shareAt(perSecond)} of them within ` +
    `${objectives(slo)}; at ${failedAt}/s it is ${shareAt(failedAt)}.`
  )
}

function kneesSentence(base: Knee, other: Knee, slo: BenchSlo): string {
  const rate = ({ perSecond, failedAt }: Knee): string =>
    perSecond === null
      ? `less than ${failedAt} requests/s`
      : `${perSecond} requests/s${failedAt === null ? ' or more' : ''}`
  const times =
    base.perSecond !== null && other.perSecond !== null && base.failedAt !== null
      ? `, ${(other.perSecond / base.perSecond).toFixed(2)} times as much`
      : ''
  return (
    `Within ${objectives(slo)}, ${shortUrl(other.url)} bears ${rate(other)} where ` +
    `${shortUrl(base.url)} bears ${rate(base)}${times}.`
  )
}

function comparisonSentence(compared: TargetComparison, { urls, stages }: BenchFigures): string {
  const { load, ratios, rounds } = compared
  const tasks = stages.some(({ tasks }) => tasks.calls > tasks.all)
  const [name, what] = tasks ? ['task p50', 'task'] : ['TTFT p50', 'first token']
  const ratio = ratios[name!]
  if (ratio === undefined || !Number.isFinite(ratio.value)) {
    return `At ${loadText(load)} there was nothing to compare.`
  }
  const { value, low, high } = ratio
  const than = `for their ${what} than those of ${shortUrl(urls[0]!)}`
  const change = `${Math.abs(100 * (1 - value)).toFixed(0)} % ${value < 1 ? 'less' : 'more'}`
  const at = `At ${loadText(load)}, half of all users of ${shortUrl(urls[1]!)} wait`
  if (low === null || high === null) {
    return `${at} ${change} ${than}, in one round.`
  }
  if (low <= 1 && high >= 1) {
    return `At ${loadText(load)} the two do not differ beyond chance, in ${rounds} rounds.`
  }
  return `${at} ${change} ${than}, in ${rounds} rounds.`
}

function stageSentence(stage: StageFigures, slo: BenchSlo): string {
  const { load, ttftMs, requests, tasks } = stage
  if (requests.all === 0) return `At ${loadText(load)} no request was measured.`
  const seconds = (ms: number | null): string =>
    ms === null ? '–' : `${(ms / 1_000).toFixed(2)} s`
  const missed = requests.all - requests.done
  const lost = missed === 0 ? '' : `; ${missed} of ${requests.all} got no answer`
  const task =
    tasks.completed > 0 && tasks.calls > tasks.all
      ? ` Half of the tasks took ${seconds(tasks.taskMs.p50)} at most.`
      : ''
  return (
    `At ${loadText(load)}, ${percent(stage)} of the requests kept ${objectives(slo)}: half ` +
    `began to be answered within ${seconds(ttftMs.p50)}, 99 % within ${seconds(ttftMs.p99)}` +
    `${lost}.${task}`
  )
}

/** `a first token in 2 s and 60 ms per token`. */
export function objectives({ ttftMs, tpotMs, e2eMs }: BenchSlo): string {
  const parts: string[] = []
  if (ttftMs !== null) parts.push(`${ttftMs / 1_000} s to the first token`)
  if (tpotMs !== null) parts.push(`${tpotMs} ms per token`)
  if (e2eMs !== null) parts.push(`${e2eMs / 1_000} s in all`)
  return parts.length === 0 ? 'no objective' : parts.join(', ')
}

function percent({ goodput }: StageFigures): string {
  return `${(100 * goodput.share).toFixed(1)} %`
}
