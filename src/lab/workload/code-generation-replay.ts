import { type Random, seededRandom } from '../../base/random.ts'
import { codeGenerationDefaults } from './code-generation.ts'
import { GrowingContext } from './context.ts'
import { NumpyGenerator } from './numpy-generator.ts'
import type { Sender, SentTurn, Turn, Workload, WorkloadSession } from './session.ts'

/**
 * Coding agents as llm-d's benchmark sends them: inference-perf at ad65fe09, `conversation_replay`
 * under `load.type: concurrent`, with the lengths of `code-generation`. As many conversations as
 * are sent at once, 20 requests of each. What differs from sessions of their own accord:
 *
 * - A conversation's number of turns is drawn, too, with a median of 6. One that has had its turns
 *   begins again with the same prompts (the answers are new), and does not wait for the last answer
 *   of the time before.
 * - Eight processes send their conversations' turns in a fixed order, as many at once as each has
 *   conversations, and a turn keeps its place while its tool runs: who is slow holds up the others.
 * - Prompts are random tokens as text. Read again by the tokenizer they are 5 % more (measured with
 *   the vocabulary of Qwen).
 * - Where a prompt does not fit, old turns are left out, then the end of the session's own context.
 *   Before version 5fb5e1ac (May 2026) nothing was cut: engines refused such requests at once.
 *
 * With the published seed (42, or 7 plus the conversations) all lengths are those of the published
 * run. Answers are as long as they were asked to be.
 */
export interface CodeGenerationReplayOptions {
  readonly conversations: number
  readonly requestsEach: number
  readonly processes: number
  readonly contextTokensMax: number
  /** Of the tokenizer per token of random text. */
  readonly tokensPerDrawn: number
  /** What does not fit is cut (1), or the request refused and left out here (0). */
  readonly cutLongPrompts: number
}

export const codeGenerationReplayDefaults: CodeGenerationReplayOptions = {
  conversations: 40,
  requestsEach: 20,
  processes: 8,
  contextTokensMax: 262_144,
  tokensPerDrawn: 1.053,
  cutLongPrompts: 1,
}

/** Kept free below the longest context. */
const reserveTokens = 200
/** Tokens that the tokenizer knows, special ones aside. */
const vocabulary = 151_643

interface DrawnTurn {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolMs: number
}

interface Conversation {
  readonly ownTokens: number
  readonly turns: readonly DrawnTurn[]
}

/** @param seed the load generator's, a whole number */
export function codeGenerationReplay(options: CodeGenerationReplayOptions, seed: number): Workload {
  const random = seededRandom(seed)
  const shared = new GrowingContext(random)
  shared.append(grown(codeGenerationDefaults.sharedTokens, options))
  const sessions: WorkloadSession[] = []
  const sent: (SentTurn | null)[][] = []
  for (const [i, one] of drawConversations(options, seed).entries()) {
    const passes = new Passes(one, shared, random, options)
    const rounds: (SentTurn | null)[] = []
    for (let pass = 0; rounds.length < options.requestsEach; pass++) {
      const turns = passes.next(Math.min(options.requestsEach - rounds.length, one.turns.length))
      const made = turns.filter((turn) => turn !== null)
      for (const [round, turn] of turns.entries()) {
        const restMs = one.turns[round]!.toolMs
        const sentTurn = { session: sessions.length, turn: turn ? made.indexOf(turn) : 0, restMs }
        rounds.push(turn === null ? null : sentTurn)
      }
      if (made.length > 0) sessions.push(session(`conversation-${i}.${pass}`, made))
    }
    sent.push(rounds)
  }
  const name = `code-generation-replay-${options.conversations}`
  return { name, sessions, senders: sendersOf(sent, options) }
}

function session(id: string, turns: readonly Turn[]): WorkloadSession {
  return { id, startMs: 0, tenant: 'default', priorityClass: 'standard', turns }
}

/** Turn after turn, each of all conversations of a process. */
function sendersOf(
  sent: readonly (readonly (SentTurn | null)[])[],
  { requestsEach, processes }: CodeGenerationReplayOptions,
): Sender[] {
  return Array.from({ length: Math.min(processes, sent.length) }, (_, process) => {
    const own = sent.filter((_, i) => i % processes === process)
    const turns = Array.from({ length: requestsEach }, (_, i) => own.map((of) => of[i]!))
    return { turnsAtOnce: own.length, turns: turns.flat().filter((turn) => turn !== null) }
  })
}

/** In the order in which the load generator draws. */
function drawConversations(options: CodeGenerationReplayOptions, seed: number): Conversation[] {
  const numbers = new NumpyGenerator(seed)
  const draw = (count: number, mean: number, stdDev: number, min: number, max: number): number[] =>
    Array.from({ length: count }, () =>
      Math.round(Math.min(max, Math.max(min, numbers.lognormal(mean, stdDev)))),
    )
  const { conversations } = options
  const counts = draw(conversations, 540, 48_600, 1, 3_000)
  const all = counts.reduce((sum, count) => sum + count, 0)
  const own = draw(conversations, 160_000, 233_600, 10_000, 990_000)
  numbers.skipIntegers(codeGenerationDefaults.sharedTokens, vocabulary)
  const inputs = draw(all, 1_500, 1_200, 100, 10_000)
  const outputs = draw(all, 425, 825, 50, 10_000)
  const tools = draw(all, 15, 55, 1, 100)
  let at = 0
  return counts.map((count, i) => {
    const first = at
    at += count
    const turns = Array.from({ length: count }, (_, turn) => ({
      inputTokens: grown(inputs[first + turn]!, options),
      outputTokens: outputs[first + turn]!,
      toolMs: tools[first + turn]! * 1_000,
    }))
    return { ownTokens: grown(own[i]!, options), turns }
  })
}

function grown(tokens: number, { tokensPerDrawn }: CodeGenerationReplayOptions): number {
  return Math.round(tokens * tokensPerDrawn)
}

/** A conversation from its beginning to its end, and again. */
class Passes {
  readonly #turns: readonly DrawnTurn[]
  readonly #random: Random
  readonly #options: CodeGenerationReplayOptions
  readonly #own: GrowingContext
  /** The first prompt, the same each time. */
  readonly #opening: GrowingContext

  constructor(
    { ownTokens, turns }: Conversation,
    shared: GrowingContext,
    random: Random,
    options: CodeGenerationReplayOptions,
  ) {
    this.#turns = turns
    this.#random = random
    this.#options = options
    this.#own = GrowingContext.after(shared, random, ownTokens)
    extend(this.#own, shared.tokens + ownTokens)
    const [first] = turns
    const room = Math.min(this.#own.tokens, this.#room(first!))
    this.#opening = this.#context(room, first!.inputTokens)
  }

  /** The first turns; null is one that was refused. */
  next(count: number): (Turn | null)[] {
    let context: GrowingContext | null = null
    let ownTokens = this.#own.tokens
    let history: number[] = []
    return this.#turns.slice(0, count).map((turn, i): Turn | null => {
      const { inputTokens, outputTokens } = turn
      const room = this.#room(turn)
      if (ownTokens + sum(history) > room) {
        if (this.#options.cutLongPrompts === 0) return null
        while (history.length > 0 && ownTokens + sum(history) > room) history = history.slice(1)
        ownTokens = Math.min(ownTokens, room)
        context = null
      }
      context ??= i === 0 ? this.#reopened() : this.#context(ownTokens, sum(history))
      if (i > 0) context.append(inputTokens)
      history.push(inputTokens + outputTokens)
      const promptTokens = context.tokens
      context.append(outputTokens)
      const gapMs = i === 0 ? 0 : this.#turns[i - 1]!.toolMs
      return { gapMs, promptTokens, outputTokens, chain: context.chain() }
    })
  }

  /** Tokens that a turn leaves for what stands before it. */
  #room({ inputTokens, outputTokens }: DrawnTurn): number {
    const { contextTokensMax, cutLongPrompts } = this.#options
    const reserve = cutLongPrompts === 0 ? 0 : reserveTokens
    return contextTokensMax - reserve - outputTokens - inputTokens
  }

  #reopened(): GrowingContext {
    const context = GrowingContext.after(this.#opening, this.#random, 0)
    extend(context, this.#opening.tokens)
    return context
  }

  #context(ownTokens: number, more: number): GrowingContext {
    const context = GrowingContext.after(this.#own, this.#random, more, ownTokens)
    extend(context, ownTokens + more)
    return context
  }
}

function extend(context: GrowingContext, tokens: number): void {
  context.append(tokens - context.tokens)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
