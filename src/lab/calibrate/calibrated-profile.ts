/** A calibration as an engine profile, and as the file that holds it. Pure. */
import { type EngineProfile, profileDefaults } from '../engine/profile.ts'
import type { Calibration } from './calibrator.ts'
import type { EngineLimits, LimitSource } from './engine-limits.ts'
import { type Coefficient, coefficients } from './observation.ts'

/** What each coefficient stands for, for readers of the file and of the table. */
export const meanings: Readonly<Record<Coefficient, string>> = {
  t0Ms: 'a step, whatever it computes',
  prefillMsPerToken: 'each new prompt token',
  pairMs: 'each pair of a new token and one before it',
  contextMsPerToken: 'each distinct token in memory, per decode step',
  logicalContextMsPerToken: 'each token of context, per decode step',
  perSequenceMs: 'each sequence in a step',
  ingressMs: 'a request, before it is queued',
  ingressMsPerToken: 'each of its prompt tokens, cached or not',
}

const limitMeanings: Readonly<Record<keyof EngineLimits, string>> = {
  kvTokens: 'KV memory',
  blockTokens: 'unit of the prefix cache',
  batchTokensMax: 'tokens computed in one step',
  runningMax: 'sequences at once',
  contextTokensMax: 'prompt and answer',
}

const sourceWords: Readonly<Record<LimitSource, string>> = {
  given: 'as given',
  told: 'as the engine says',
  measured: 'measured',
  assumed: 'not known, assumed',
}

/** When and where it was measured. */
export interface Occasion {
  readonly url: string
  /** ISO 8601. */
  readonly at: string
}

export function profileOf(calibration: Calibration, { at }: Occasion): EngineProfile {
  const { facts, fit, limits, run } = calibration
  const version = facts.version === null ? '' : ` ${facts.version}`
  const value = (name: Coefficient): number => rounded(fit.coefficients[name].value)
  return {
    ...profileDefaults,
    name: `${facts.model.replace(/^.*\//, '')}-${facts.engine}`,
    model: facts.model,
    source: `Measured on ${facts.engine}${version}, ${at.slice(0, 10)}, ${run.calls} calls.`,
    t0Ms: value('t0Ms'),
    prefillMsPerToken: value('prefillMsPerToken'),
    pairMs: value('pairMs'),
    contextMsPerToken: value('contextMsPerToken'),
    logicalContextMsPerToken: value('logicalContextMsPerToken'),
    perSequenceMs: value('perSequenceMs'),
    ingressMs: value('ingressMs'),
    ingressMsPerToken: value('ingressMsPerToken'),
    ...limits,
    hitsInFlight: facts.engine !== 'sglang',
    pricePerHour: 0,
  }
}

/** YAML that `readProfileFile` reads. */
export function profileFileText(calibration: Calibration, occasion: Occasion): string {
  const { facts, fit, run, sources, probed, disturbedRounds } = calibration
  const profile = profileOf(calibration, occasion)
  const lines: string[] = [
    `# An engine profile, measured by \`warmpath calibrate ${occasion.url}\`, for`,
    '# `warmpath emulate --profile FILE` and `warmpath simulate --fleet 4xFILE`.',
    '# Milliseconds, with the standard errors of the fit. Edit what you know better.',
    ...(['name', 'model', 'source'] as const).map((key) => `${key}: ${text(profile[key])}`),
    '',
  ]
  for (const name of coefficients) {
    const { error } = fit.coefficients[name]
    lines.push(commented(`${name}: ${withError(profile[name], error)}`, meanings[name]))
  }
  lines.push('')
  for (const key of Object.keys(limitMeanings) as (keyof EngineLimits)[]) {
    const error = key === 'kvTokens' && probed !== null ? probed.error : Number.NaN
    const meaning = `${limitMeanings[key]}: ${sourceWords[sources[key]]}`
    lines.push(commented(`${key}: ${withError(profile[key], error)}`, meaning))
  }
  lines.push(
    commented(`hitsInFlight: ${profile.hitsInFlight}`, 'cached as soon as its step begins'),
    commented(`pricePerHour: ${profile.pricePerHour}`, 'not known: fill in'),
    '',
    'measured:',
    `  at: ${text(occasion.at)}`,
    `  url: ${text(occasion.url)}`,
    `  engine: ${facts.engine}`,
    `  version: ${facts.version === null ? 'null' : text(facts.version)}`,
    `  rounds: ${run.rounds}`,
    commented(`  disturbedRounds: ${disturbedRounds}`, 'others were at work when they began'),
    `  calls: ${run.calls}`,
    `  promptTokens: ${run.promptTokens}`,
    `  outputTokens: ${run.outputTokens}`,
    `  skipped: [${run.skipped.map(text).join(', ')}]`,
    '',
    '# How far the model is from the measured times, as shares of them.',
    'fit:',
  )
  for (const { kind, samples, experiments, medianError, worstError, worst } of fit.quality) {
    const counts = `samples: ${samples}, experiments: ${experiments}`
    const errors = `medianError: ${rounded(medianError)}, worstError: ${rounded(worstError)}`
    lines.push(`  ${kind}: { ${counts}, ${errors}, worst: ${text(worst)} }`)
  }
  return `${lines.join('\n')}\n`
}

const text = (value: string): string => JSON.stringify(value)

function withError(value: number, error: number): string {
  return Number.isNaN(error) ? `${value}` : `{ value: ${value}, error: ${rounded(error, 2)} }`
}

function commented(line: string, comment: string): string {
  return `${line.padEnd(60)} # ${comment}`
}

/** Four digits: more would claim what no measurement gives. */
function rounded(value: number, digits = 4): number {
  return Number(value.toPrecision(digits))
}
