import packageJson from '../../../package.json' with { type: 'json' }

/** The version of this router, as the package says. */
export const { version } = packageJson
