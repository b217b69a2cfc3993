/** What there is to simulate: `warmpath simulate --list`. */
import { arms } from '../lab/arms/arms.ts'
import { profileNamed, profileNames } from '../lab/engine/profiles.ts'
import { workloadKinds } from '../lab/workload/workloads.ts'
import { textTable } from './text-table.ts'

export function renderChoices(): string {
  const workloads = workloadKinds.map(({ name, summary, defaults }) => {
    const options = Object.entries(defaults).map(([key, value]) => `${key}=${value}`)
    return `${name}: ${summary}\n  ${options.join(',')}\n`
  })
  const policies = arms.map(({ name, variants }) => [
    name,
    variants.map(({ label }) => label).join(', '),
  ])
  const profiles = profileNames.map((name) => [name, profileNamed(name).model])
  return [
    `Workloads, and their options\n\n${workloads.join('')}`,
    `${textTable(['policy', 'variants'], policies)}\n`,
    `${textTable(['profile', 'model'], profiles)}\n`,
  ].join('\n')
}
