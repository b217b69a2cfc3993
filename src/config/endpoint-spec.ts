/** One engine replica as the operator describes it. */
import { z } from 'zod'
import type { EngineKind } from '../core/fleet/endpoint.ts'

const engineKinds = [
  'vllm',
  'sglang',
  'tensorrt-llm',
  'llama.cpp',
  'ollama',
  'tgi',
  'unknown',
] as const satisfies readonly EngineKind[]

/** What is left out is asked of the engine. */
export interface EndpointSpec {
  /** Scheme, host and port, e.g. `http://gpu1:8000`; also the endpoint's key. */
  readonly url: string
  /** Models that it serves, instead of those it lists. */
  readonly models?: readonly string[]
  readonly engine?: EngineKind
  /** Environment variable that holds the key to send to the engine. */
  readonly apiKeyEnv?: string
  /** In the operator's currency. */
  readonly pricePerHour?: number
  readonly kvCapacityTokens?: number
  readonly hostCapacityTokens?: number
  /** Requests that the engine runs at once. */
  readonly runningMax?: number
}

const expectsUrl = 'expects a URL such as http://gpu1:8000'

const url = z.string({ error: expectsUrl }).transform((text, context) => {
  const problem = urlProblem(text)
  if (problem === null) return new URL(text).origin
  context.addIssue({ code: 'custom', message: problem })
  return z.NEVER
})

function urlProblem(text: string): string | null {
  if (!/^https?:\/\//i.test(text)) {
    return `${expectsUrl}; did you mean http://${text.replace(/^.*:\/\//, '')}?`
  }
  if (!URL.canParse(text)) return expectsUrl
  const parsed = new URL(text)
  if (parsed.username !== '' || parsed.password !== '') {
    return 'must not carry a password: name an environment variable in apiKeyEnv'
  }
  if (parsed.pathname !== '/' || parsed.search !== '' || parsed.hash !== '') {
    const only = 'expects scheme, host and port only, as the request brings the path'
    return `${only}; did you mean ${parsed.origin}?`
  }
  return null
}

const tokens = z.int({ error: 'expects a whole number of tokens above 0' }).positive({
  error: 'expects a whole number of tokens above 0',
})

const endpointSpecSchema = z.strictObject(
  {
    url,
    models: z
      .array(z.string({ error: 'expects the name of a model' }).min(1), {
        error: 'expects a list of model names',
      })
      .readonly()
      .exactOptional(),
    engine: z
      .enum(engineKinds, { error: `expects one of ${engineKinds.join(', ')}` })
      .exactOptional(),
    apiKeyEnv: z
      .string({ error: 'expects the name of an environment variable' })
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
        error: 'expects the name of an environment variable, not the key itself',
      })
      .exactOptional(),
    pricePerHour: z
      .number({ error: 'expects a number, 0 or more' })
      .min(0, { error: 'expects a number, 0 or more' })
      .exactOptional(),
    kvCapacityTokens: tokens.exactOptional(),
    hostCapacityTokens: tokens.exactOptional(),
    runningMax: z
      .int({ error: 'expects a whole number above 0' })
      .positive({ error: 'expects a whole number above 0' })
      .exactOptional(),
  },
  { error: 'expects a URL, or a map with at least a url' },
)

export const endpointSpecKeys: readonly string[] = Object.keys(endpointSpecSchema.shape)

/** A list of URLs and maps; the same URL twice is an error. */
export const endpointListSchema = z
  .array(
    z.preprocess((raw) => (typeof raw === 'string' ? { url: raw } : raw), endpointSpecSchema),
    { error: 'expects a list of URLs, or of maps with a url' },
  )
  .superRefine((specs, context) => {
    const seen = new Set<string>()
    for (const [i, spec] of specs.entries()) {
      if (seen.has(spec.url)) {
        context.addIssue({ code: 'custom', path: [i], message: `repeats ${spec.url}` })
      }
      seen.add(spec.url)
    }
  })
