import type { EngineProfile } from '../engine/profile.ts'
import { type OptionValues, optionValues } from '../option-values.ts'
import type { FleetMember } from '../simulator/simulated-fleet.ts'

const endpointsMax = 1_024

/**
 * The fleet that a text describes: `8xqwen3-32b-2xh100`, several kinds by commas, and numbers of a
 * profile changed behind colons, as in `4xllama-3.1-8b-h100:kvTokens=100000,2xglm-5.2-8xb200`.
 * @param profileOf finds a profile by name or file
 * @throws RangeError that says what would be valid
 */
export function fleetOf(text: string, profileOf: (name: string) => EngineProfile): FleetMember[] {
  const profiles = text.split(',').flatMap((part) => {
    const [, count, name, changes] = /^(\d+)x([^:]+)((?::[^:]+)*)$/.exec(part.trim()) ?? []
    if (count === undefined || name === undefined) {
      throw new RangeError(
        `a fleet is such as 8xqwen3-32b-2xh100,4xllama-3.1-8b-h100, not "${part}"`,
      )
    }
    const profile = changed(profileOf(name), (changes ?? '').split(':').slice(1))
    return new Array<EngineProfile>(Math.min(Number(count), endpointsMax + 1)).fill(profile)
  })
  if (profiles.length === 0 || profiles.length > endpointsMax) {
    throw new RangeError(`a fleet has 1 to ${endpointsMax} endpoints, not ${profiles.length}`)
  }
  const models = [...new Set(profiles.map(({ model }) => model))]
  if (models.length > 1) {
    throw new RangeError(`all endpoints serve one model, not ${models.join(' and ')}`)
  }
  return profiles.map((profile, i) => ({ endpoint: `http://engine-${i}`, profile }))
}

function changed(profile: EngineProfile, changes: readonly string[]): EngineProfile {
  const numbers = Object.entries(profile).filter(([, value]) => typeof value === 'number')
  const defaults: OptionValues = Object.fromEntries(numbers)
  return { ...profile, ...optionValues(changes, defaults, profile.name) }
}
