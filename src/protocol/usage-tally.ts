/** Token counts, from wherever an engine puts them. */
import type { Usage } from '../core/events.ts'
import { countOrNull, isObject, type Json, type JsonObject } from './json.ts'

/** What is said later replaces what was said before, field by field: streams repeat themselves. */
export class UsageTally {
  #prompt: number | null = null
  #output: number | null = null
  #cached: number | null = null
  #input: number | null = null
  #cacheRead: number | null = null
  #cacheCreation: number | null = null

  get usage(): Usage {
    return {
      promptTokens: this.#prompt ?? this.#inputTotal(),
      outputTokens: this.#output,
      cachedTokens: this.#cached ?? this.#cacheRead,
    }
  }

  /** Reads OpenAI's shape (both of its APIs'), Anthropic's, and SGLang's `meta_info`. */
  read(usage: Json | undefined): void {
    if (!isObject(usage)) return
    this.#prompt = countOrNull(usage.prompt_tokens) ?? this.#prompt
    this.#input = countOrNull(usage.input_tokens) ?? this.#input
    this.#output =
      countOrNull(usage.completion_tokens) ?? countOrNull(usage.output_tokens) ?? this.#output
    const details = usage.prompt_tokens_details ?? usage.input_tokens_details
    const cached = isObject(details) ? details.cached_tokens : usage.cached_tokens
    this.#cached = countOrNull(cached) ?? this.#cached
    this.#cacheRead = countOrNull(usage.cache_read_input_tokens) ?? this.#cacheRead
    this.#cacheCreation = countOrNull(usage.cache_creation_input_tokens) ?? this.#cacheCreation
  }

  /** llama.cpp's `timings`: `prompt_n` counts what was evaluated, `cache_n` what was not. */
  readTimings(timings: Json | undefined): void {
    if (!isObject(timings)) return
    const evaluated = countOrNull(timings.prompt_n)
    const cached = countOrNull(timings.cache_n)
    if (evaluated === null || cached === null) return
    this.#prompt ??= evaluated + cached
    this.#cached ??= cached
    this.#output ??= countOrNull(timings.predicted_n)
  }

  /** Ollama's last line. Its prompt count leaves out cached tokens, so it says nothing here. */
  readOllama(line: JsonObject): void {
    this.#output = countOrNull(line.eval_count) ?? this.#output
  }

  /** Anthropic counts as input only what was neither read from the cache nor written to it. */
  #inputTotal(): number | null {
    if (this.#input === null) return null
    return this.#input + (this.#cacheRead ?? 0) + (this.#cacheCreation ?? 0)
  }
}
