import type { EndpointSpec } from '../config/endpoint-spec.ts'
import type { EndpointDescription } from '../core/fleet/endpoint.ts'

/** What the operator declared of an endpoint, in the core's words. */
export function declaredBy(spec: EndpointSpec): EndpointDescription {
  const { url: _url, apiKeyEnv: _apiKeyEnv, models, ...facts } = spec
  if (models === undefined) return facts
  return { ...facts, models: models.map((id) => ({ id, parent: null, maxModelLen: null })) }
}

/** The key to send to the engine; null for none. Never logged, never shown. */
export function apiKeyOf(
  spec: EndpointSpec,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  return (spec.apiKeyEnv === undefined ? undefined : env[spec.apiKeyEnv]) ?? null
}
