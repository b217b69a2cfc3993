/** A calibration as words and tables for an operator. */
import { meanings } from '../lab/calibrate/calibrated-profile.ts'
import type { Calibration, Calibrator } from '../lab/calibrate/calibrator.ts'
import { loadOf } from '../lab/calibrate/experiment-plan.ts'
import { amountsOf, coefficients, type Observation } from '../lab/calibrate/observation.ts'
import { textTable } from './text-table.ts'

const number = (value: number): string => value.toLocaleString('en-US')

/** What will be sent, before anything is. */
export function renderPlan(
  { facts, loadBefore, experiments }: Calibrator,
  bounds: { readonly rounds: number; readonly minutes: number },
): string {
  const known = (tokens: number | null): string => (tokens === null ? 'not told' : number(tokens))
  const load = loadOf(experiments)
  const others =
    loadBefore === null
      ? 'It shows no metrics, so whether others use it cannot be told.'
      : loadBefore.requests === 0
        ? 'Nobody else uses it now.'
        : `Others have ${loadBefore.requests} requests in it: they will be slowed down, and what ` +
          'is measured will be too.'
  const lines = [
    `${facts.engine} ${facts.version ?? ''}`.trim() +
      `, model ${facts.model}: context ${known(facts.contextTokensMax)} tokens, KV memory ` +
      `${known(facts.kvTokens)} tokens. ${others}`,
    `One round sends ${number(load.calls)} requests with ${number(load.promptTokens)} prompt ` +
      `tokens, ${number(load.newTokens)} of them new to the engine, and takes ` +
      `${number(load.outputTokens)} tokens of answers; at most ${load.atOnce} requests at once, ` +
      `none longer than about ${number(load.longestPrompt)} tokens.`,
    `It repeats that ${bounds.rounds} times, or as often as fits into ` +
      `${number(bounds.minutes)} min. Ctrl-C stops it.`,
  ]
  if (facts.kvTokens === null) {
    lines.push(
      'Then it fills the KV memory to find its size, which pushes out what others have cached ' +
        'there. --kv-tokens says the size instead.',
    )
  }
  return lines.join('\n')
}

export function renderCalibration(calibration: Calibration): string {
  const { fit } = calibration
  const coefficientTable = textTable(
    ['coefficient', { title: 'ms', align: 'right' }, { title: '±', align: 'right' }, 'for'],
    coefficients.map((name) => {
      const { value, error } = fit.coefficients[name]
      return [name, digits(value, 4), Number.isNaN(error) ? null : digits(error, 2), meanings[name]]
    }),
  )
  const percent = (share: number): string => (100 * share).toFixed(1)
  const qualityTable = textTable(
    [
      'measured',
      'samples',
      { title: 'off by %', align: 'right' },
      { title: 'at most %', align: 'right' },
      'where',
    ],
    fit.quality.map(({ kind, samples, medianError, worstError, worst }) => [
      kind,
      samples,
      percent(medianError),
      percent(worstError),
      worst,
    ]),
  )
  return `${coefficientTable}\n\n${qualityTable}\n\n${remarks(calibration)}${sentence(calibration)}`
}

function digits(value: number, count: number): string {
  return String(Number(value.toPrecision(count)))
}

function remarks({ run, cacheWorks, disturbedRounds, probed, sources }: Calibration): string {
  const lines: string[] = []
  if (disturbedRounds > 0) {
    lines.push(
      `Others were at work at the start of ${disturbedRounds} of ${run.rounds} rounds: it is as ` +
        'slow as this with them.',
    )
  }
  if (run.skipped.length > 0) lines.push(`Left out, too long: ${run.skipped.join('; ')}.`)
  if (!cacheWorks) lines.push('Prompts sent again were not found cached: is its prefix cache on?')
  if (probed?.atLeast === true) {
    lines.push(`The KV memory holds ${number(probed.tokens)} tokens or more: time ran out.`)
  }
  const assumed = Object.entries(sources).flatMap(([key, from]) => (from === 'assumed' ? key : []))
  if (assumed.length > 0) {
    lines.push(`Not told, and assumed: ${assumed.join(', ')}. Correct them in the file.`)
  }
  return lines.map((line) => `${line}\n`).join('') + (lines.length > 0 ? '\n' : '')
}

/** The prompt of which the last sentence speaks, if one as long was measured. */
const tellingTokens = 4_096

function sentence({ fit, run, limits }: Calibration): string {
  const expectedMs = (one: Observation): number =>
    amountsOf(one, limits.batchTokensMax).reduce(
      (sum, amount, i) => sum + amount * fit.coefficients[coefficients[i]].value,
      0,
    )
  const promptTokens = Math.min(tellingTokens, run.longestPrompt)
  const prompt = { kind: 'new', experiment: '', ms: 0, promptTokens } as const
  const cachedTokens = promptTokens - 1
  const freshMs = expectedMs({ ...prompt, cachedTokens: 0 })
  const cachedMs = expectedMs({ ...prompt, cachedTokens })
  const stepMs = expectedMs({
    kind: 'decode',
    experiment: '',
    ms: 0,
    sequences: 1,
    contextTokens: promptTokens,
    residentTokens: promptTokens,
  })
  return (
    `The first token after a prompt of ${number(promptTokens)} tokens takes ` +
    `${duration(freshMs)} when it is new and ${duration(cachedMs)} when it is cached; an answer ` +
    `alone then comes at ${number(Math.round(1_000 / stepMs))} tokens per second.`
  )
}

function duration(ms: number): string {
  return ms < 1_000 ? `${digits(ms, 2)} ms` : `${digits(ms / 1_000, 2)} s`
}
