import { cliPage } from './cli-page.ts'
import { errorsPage } from './errors-page.ts'
import { metricsPage } from './metrics-page.ts'
import { optionsPage } from './options-page.ts'

/** Pages that are made from the code, by their path in the repository. */
export const referencePages: Readonly<Record<string, () => string>> = {
  'docs/reference/cli.md': cliPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/options.md': optionsPage,
}
