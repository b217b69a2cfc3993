/** What placing a request on an endpoint would cost, in ms: its own time and that of others. */
import type { Cost } from '../policy/policy.ts'
import {
  type Bystanders,
  delayedWaitersMs,
  evictedContextMs,
  slowedDecodesMs,
  stalledDecodesMs,
} from './externality.ts'
import type { Rates } from './rates.ts'
import { type Room, roomWaitMs } from './room-wait.ts'
import { prefillComputeMs, prefillTokensPerStep, stepTimeMs } from './step-time.ts'

/** What is on an endpoint now. Tokens unless the name says otherwise. */
export interface EndpointLoad {
  /** Until the prefill of everything dispatched before is done. */
  readonly backlogMs: number
  /** Requests there, ours and others', decoding or not. */
  readonly running: number
  readonly decodingSequences: number
  readonly decodingContextTokens: number
  /** Output tokens still expected of those, together. */
  readonly decodingRemainingTokens: number
  /** Prompt and output so far of everything in flight, shared prefixes counted each time. */
  readonly contextTokens: number
  /** Null where unknown: then nothing is predicted to wait for memory. */
  readonly kvCapacityTokens: number | null
  readonly runningMax: number | null
  /** Token budget of one step. */
  readonly batchTokensMax: number | null
  /** KV memory that holds nothing worth keeping. */
  readonly freeCacheTokens: number
  /** Arrivals to expect there over a future of that length. */
  readonly arrivalsPerMs: (horizonMs: number) => number
  /**
   * Distinct KV tokens in use per token of context in flight, at most 1: less where requests share
   * prefixes. Left out, nothing is shared.
   */
  readonly residentShare?: number
  /** Chance that evicted context is wanted again. */
  readonly reuseShare: number
  /** Host memory keeps what leaves GPU memory. */
  readonly evictsIntoHost: boolean
}

/** The request on that endpoint. Tokens. */
export interface RequestWork {
  readonly promptTokens: number
  readonly gpuTokens: number
  readonly hostTokens: number
  readonly outputTokens: number
}

/**
 * The four parts add up to one number: what the choice adds to the completion times of this request
 * and of all others.
 *
 * - wait: the fixed overhead; the prefill ahead of it or the wait for room, whichever is longer
 *   (requests go on ending while prompts are computed); the rest of the step it comes into, and of
 *   the one it does not fill. Requests that queue behind it do not wait for these last two again,
 *   so they are no part of its prefill.
 * - prefill: the time it occupies the engine, `a·u + q·u·(c + u/2)` and its share of the steps that
 *   carry it, in which all decodes go on; and the reload of its host-tier tokens.
 * - decode: its output times the step with everyone now there decoding beside it.
 * - externality: see externality.ts.
 */
export function predictCost(rates: Rates, load: EndpointLoad, request: RequestWork): Cost {
  const { outputTokens } = request
  const promptTokens = Math.max(1, request.promptTokens)
  // The last prompt token is computed in any case: its output is the first token.
  const gpuTokens = Math.min(request.gpuTokens, promptTokens - 1)
  const hostTokens = Math.min(request.hostTokens, promptTokens - 1 - gpuTokens)
  const uncachedTokens = promptTokens - gpuTokens - hostTokens
  const computeMs = prefillComputeMs(rates, uncachedTokens, promptTokens - uncachedTokens)
  const stepTokens = prefillTokensPerStep(load.batchTokensMax, load.running)
  const steps = uncachedTokens / stepTokens
  const stepComputeMs = prefillComputeMs(rates, promptTokens, 0) * (stepTokens / promptTokens)
  const besideMs = stepBesideMs(rates, load, 0)
  const ownTokens = distinctTokens(load, promptTokens, gpuTokens) + outputTokens / 2
  const decodeStepMs = stepBesideMs(rates, load, ownTokens)
  const occupancyMs = computeMs + steps * besideMs
  const queueMs = Math.max(load.backlogMs, longestRoomWaitMs(load, request, besideMs))
  const stepRestMs = Math.max(0, 1 - steps) * besideMs + (load.running > 0 ? besideMs / 2 : 0)
  const others: Bystanders = {
    decodes: load.decodingSequences,
    remainingTokensMean: remainingTokensMean(load),
    queued: Math.max(0, load.running - load.decodingSequences),
  }
  return {
    waitMs: rates.overheadMs + queueMs + stepRestMs,
    prefillMs: occupancyMs + hostTokens * rates.hostReloadMsPerToken,
    decodeMs: outputTokens * decodeStepMs,
    externalityMs:
      stalledDecodesMs(computeMs, stepComputeMs, others, outputTokens) +
      slowedDecodesMs(rates, ownTokens, others, outputTokens) +
      delayedWaitersMs(
        load.arrivalsPerMs(load.backlogMs + occupancyMs),
        occupancyMs,
        load.backlogMs,
      ) +
      (1 + others.decodes) *
        evictedContextMs(rates, {
          newTokens: uncachedTokens + hostTokens + outputTokens,
          freeTokens: load.freeCacheTokens,
          intoHost: load.evictsIntoHost,
          reuseShare: load.reuseShare,
          promptTokens,
        }),
  }
}

/** A decode step of everyone there and this request; the batch holds no more than fits. */
function stepBesideMs(rates: Rates, load: EndpointLoad, ownTokens: number): number {
  const sequences = Math.min(load.running + 1, load.runningMax ?? Number.POSITIVE_INFINITY)
  const residentTokens = load.contextTokens * (load.residentShare ?? 1) + ownTokens
  return stepTimeMs(rates, sequences, Math.min(residentTokens, load.kvCapacityTokens ?? Infinity))
}

/** Memory that a prompt takes: a cached prefix takes none where others hold it in use anyway. */
function distinctTokens(load: EndpointLoad, promptTokens: number, gpuTokens: number): number {
  return promptTokens - gpuTokens * (1 - (load.residentShare ?? 1))
}

/** For KV memory or for a place among the running, whichever is later. */
function longestRoomWaitMs(load: EndpointLoad, request: RequestWork, stepMs: number): number {
  const { decodingSequences: decodes } = load
  const remaining = remainingTokensMean(load)
  let waitMs = 0
  if (load.kvCapacityTokens !== null) {
    const share = load.residentShare ?? 1
    const memory: Room = {
      capacity: load.kvCapacityTokens,
      inUse: load.contextTokens * share,
      inUseByDecodes: load.decodingContextTokens * share,
      needed: distinctTokens(load, request.promptTokens, request.gpuTokens),
    }
    waitMs = roomWaitMs(memory, decodes, remaining, request.outputTokens, stepMs)
  }
  if (load.runningMax === null) return waitMs
  const places: Room = {
    capacity: load.runningMax,
    inUse: load.running,
    inUseByDecodes: decodes,
    needed: 1,
  }
  return Math.max(waitMs, roomWaitMs(places, decodes, remaining, request.outputTokens, stepMs))
}

function remainingTokensMean(load: EndpointLoad): number {
  return load.decodingSequences === 0 ? 0 : load.decodingRemainingTokens / load.decodingSequences
}
