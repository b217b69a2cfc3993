import { type EngineProfile, profileDefaults } from './profile.ts'

/** What llm-d's stack was seen to add to the first token's time, before the engine. */
const stackIngressMs = 80

/**
 * The engine profiles that can be asked for by name; each `source` says which of its numbers were
 * measured (prefill peaks are those of llm-d's published matrix). "Derived" is from the model's
 * size and the devices' data sheets: t0 is the weights read once at 1.0 to 1.3 times the memory's
 * nominal time, plus 0.03 ms per layer; a is 2 FLOP per active parameter at 65 to 70 % of peak; q
 * is 4 × layers × heads × head size at half of peak; k is 1.5 times the KV bytes of a token over
 * the memory's bandwidth.
 */
const profileList: readonly EngineProfile[] = [
  {
    ...profileDefaults,
    name: 'qwen3-32b-2xh100',
    model: 'Qwen/Qwen3-32B',
    source:
      'Fitted by hand to the throughput ladder that llm-d publishes, and its KV capacity; ' +
      'host reload at 40 GB/s per GPU; ingress measured on the same stack.',
    t0Ms: 13.5,
    prefillMsPerToken: 0.048,
    pairMs: 2.1e-6,
    contextMsPerToken: 6.0e-5,
    logicalContextMsPerToken: 0.9e-5,
    kvTokens: 307_328,
    contextTokensMax: 40_960,
    hostReloadMsPerToken: 0.0033,
    ingressMs: stackIngressMs,
    pricePerHour: 6,
  },
  {
    ...profileDefaults,
    name: 'llama-3.1-8b-h100',
    model: 'meta-llama/Llama-3.1-8B-Instruct',
    source:
      'Derived; agrees with 7.0 ms per step alone and 8.7 ms at 64 sequences as measured with ' +
      'vLLM; host reload 128 KiB per token at the 50 GB/s that the vLLM project measured.',
    t0Ms: 6.9,
    prefillMsPerToken: 0.024,
    pairMs: 1.1e-6,
    contextMsPerToken: 6.0e-5,
    logicalContextMsPerToken: 0.9e-5,
    kvTokens: 421_000,
    hostReloadMsPerToken: 0.0026,
    pricePerHour: 3,
  },
  {
    ...profileDefaults,
    name: 'llama-3.1-70b-4xh100',
    model: 'meta-llama/Llama-3.1-70B-Instruct',
    source:
      'Derived; KV capacity measured by the llm-d project (461,376 tokens); ' +
      'host reload 320 KiB per token at 40 GB/s per GPU.',
    t0Ms: 15.3,
    prefillMsPerToken: 0.055,
    pairMs: 1.3e-6,
    contextMsPerToken: 3.8e-5,
    logicalContextMsPerToken: 0.6e-5,
    kvTokens: 461_376,
    hostReloadMsPerToken: 0.002,
    pricePerHour: 12,
  },
  {
    ...profileDefaults,
    name: 'qwen3-coder-480b-tpu-v7x',
    model: 'Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8',
    source:
      'Prefill from a measured peak of 16,444 tokens/s, the rest derived; per sequence (each has ' +
      'its own experts to be read) and ingress per token fitted to published first tokens at 5 ' +
      'and 10 sessions and times per token; limits as served by llm-d. KV capacity assumed: ' +
      'between the 658,000 tokens without offloading that its manifests imply, and what the ' +
      'devices could hold.',
    t0Ms: 22,
    prefillMsPerToken: 0.057,
    pairMs: 1.1e-6,
    contextMsPerToken: 1.7e-5,
    logicalContextMsPerToken: 0,
    perSequenceMs: 1.5,
    kvTokens: 800_000,
    runningMax: 64,
    contextTokensMax: 262_144,
    hostReloadMsPerToken: 0.0033,
    ingressMs: stackIngressMs,
    ingressMsPerToken: 0.005,
    pricePerHour: 40,
  },
  {
    ...profileDefaults,
    name: 'gpt-oss-120b-h100',
    model: 'openai/gpt-oss-120b',
    source:
      'Prefill from a measured peak of 39,065 tokens/s, t0 within the derived 5 to 8 ms ' +
      '(weights of active experts); attention and context costs of an 8B model taken over, ' +
      'halved for its windowed layers; KV capacity the least with which vLLM starts at its ' +
      'default context; ingress fitted to first tokens that llm-d publishes.',
    t0Ms: 6.5,
    prefillMsPerToken: 0.0256,
    pairMs: 0.6e-6,
    contextMsPerToken: 3.0e-5,
    logicalContextMsPerToken: 0.5e-5,
    kvTokens: 131_072,
    contextTokensMax: 131_072,
    hostReloadMsPerToken: 0.0015,
    ingressMs: 45,
    pricePerHour: 3,
  },
  {
    ...profileDefaults,
    name: 'glm-5.2-8xb200',
    model: 'zai-org/GLM-5.2-NVFP4',
    source:
      'Prefill from a measured peak of 24,027 tokens/s; the rest assumed, of ' +
      'the order of a large mixture of experts on such a node.',
    t0Ms: 20,
    prefillMsPerToken: 0.0416,
    pairMs: 0.5e-6,
    contextMsPerToken: 1.0e-5,
    logicalContextMsPerToken: 0.2e-5,
    kvTokens: 1_500_000,
    contextTokensMax: 200_000,
    hostReloadMsPerToken: 0.0015,
    pricePerHour: 40,
  },
  {
    ...profileDefaults,
    name: 'qwen3-32b-tpu-v6e',
    model: 'Qwen/Qwen3-32B',
    source:
      'Prefill from a measured peak of 26,290 tokens/s; the rest taken from ' +
      'the fit of the same model on two H100.',
    t0Ms: 13.5,
    prefillMsPerToken: 0.038,
    pairMs: 2.1e-6,
    contextMsPerToken: 6.0e-5,
    logicalContextMsPerToken: 0.9e-5,
    kvTokens: 307_328,
    contextTokensMax: 40_960,
    hostReloadMsPerToken: 0.0033,
    pricePerHour: 11,
  },
]

export const profileNames: readonly string[] = profileList.map((profile) => profile.name)

/** The profile of that name; throws a RangeError that lists the names. */
export function profileNamed(name: string): EngineProfile {
  const profile = profileList.find((candidate) => candidate.name === name)
  if (profile === undefined) {
    throw new RangeError(`no profile "${name}"; there are ${profileNames.join(', ')}`)
  }
  return profile
}
