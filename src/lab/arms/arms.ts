/** Every arm by its name. */
import { didYouMean } from '../../config/did-you-mean.ts'
import { aibrix } from './aibrix.ts'
import type { Arm, ArmVariant } from './arm.ts'
import { dynamoKv } from './dynamo.ts'
import { llmdActiveRequest } from './llm-d-active-request.ts'
import { llmdAffinity } from './llm-d-affinity.ts'
import { llmdBlend } from './llm-d-blend.ts'
import { llmdPredictedLatency } from './llm-d-predicted-latency.ts'
import { lmetricArm } from './lmetric.ts'
import { prebleArm } from './preble.ts'
import { productArms } from './product-arms.ts'
import { productionStack } from './production-stack.ts'
import { rayPrefixArm } from './ray-prefix.ts'
import { sglangCacheAware } from './sglang-cache-aware.ts'
import { smgCacheAware } from './smg-cache-aware.ts'
import { vllmDataParallel } from './vllm-dp.ts'

export const arms: readonly Arm[] = [
  ...productArms,
  llmdBlend,
  llmdAffinity,
  llmdActiveRequest,
  llmdPredictedLatency,
  sglangCacheAware,
  smgCacheAware,
  dynamoKv,
  lmetricArm,
  prebleArm,
  rayPrefixArm,
  vllmDataParallel,
  productionStack,
  aibrix,
]

/** @throws RangeError that says what there is */
export function armNamed(name: string): Arm {
  const arm = arms.find((one) => one.name === name)
  if (arm !== undefined) return arm
  const names = arms.map((one) => one.name)
  const meant = didYouMean(name, names)
  const hint = meant === null ? `there are ${names.join(', ')}` : `did you mean ${meant}?`
  throw new RangeError(`no policy "${name}"; ${hint}`)
}

/** The variant of an arm with that label; the first where none is given. */
export function variantOf(arm: Arm, label?: string): ArmVariant {
  const variant =
    label === undefined ? arm.variants[0] : arm.variants.find((v) => v.label === label)
  if (variant !== undefined) return variant
  const labels = arm.variants.map((one) => `"${one.label}"`).join(', ')
  throw new RangeError(`${arm.name} has no variant "${label}"; there are ${labels}`)
}
