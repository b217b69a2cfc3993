/** The official clients over an emulated engine: what their users would see. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { defaultConfig } from '../../src/config/config.ts'
import { startGateway } from '../../src/drivers/gateway/start-gateway.ts'
import { type Emulator, startEmulator } from '../../src/lab/emulator/start-emulator.ts'
import { silentLogger } from '../../src/observe/logger.ts'

const model = 'm'
const content = 'Say hello to everybody here, one after the other, in order. '.repeat(40)
const messages = [{ role: 'user' as const, content }]

async function fleet(
  t: TestContext,
): Promise<{ emulator: Emulator; openai: OpenAI; anthropic: Anthropic }> {
  const profile = 'llama-3.1-8b-h100'
  const emulator = await startEmulator({ profile, replicas: 2, models: [model], timeScale: 50 })
  t.after(() => emulator.close())
  const endpoints = emulator.urls.map((url) => ({ url }))
  const config = { ...defaultConfig, host: '127.0.0.1', port: 0, endpoints, drainTimeoutMs: 0 }
  const gateway = await startGateway(config, silentLogger)
  t.after(() => gateway.close())
  for (;;) {
    if ((await fetch(`${gateway.address}/readyz`)).ok) break
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const openai = new OpenAI({ baseURL: `${gateway.address}/v1`, apiKey: 'x', maxRetries: 0 })
  const anthropic = new Anthropic({ baseURL: gateway.address, apiKey: 'x', maxRetries: 0 })
  return { emulator, openai, anthropic }
}

describe('openai', () => {
  test('a chat, whole and streamed, with usage and the next turn', async (t) => {
    const { openai } = await fleet(t)
    const whole = await openai.chat.completions.create({ model, messages, max_tokens: 20 })
    assert.ok(whole.choices[0]!.message.content!.length > 0)
    assert.ok(whole._request_id)
    const stream = await openai.chat.completions.create({
      model,
      messages: [...messages, whole.choices[0]!.message, { role: 'user', content: 'And again.' }],
      max_tokens: 20,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: OpenAI.CompletionUsage | null | undefined
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    assert.ok(text.length > 0)
    assert.ok(usage!.completion_tokens > 0)
    assert.ok(usage!.prompt_tokens_details!.cached_tokens! > 0, 'sent where its prefix is')
  })

  test('a completion, an embedding and the models', async (t) => {
    const { openai } = await fleet(t)
    const completion = await openai.completions.create({ model, prompt: 'Once', max_tokens: 5 })
    assert.ok(completion.choices[0]!.text.length > 0)
    const embedding = await openai.embeddings.create({ model, input: ['one', 'two'] })
    assert.equal(embedding.data.length, 2)
    const { data } = await openai.models.list()
    assert.deepEqual(
      data.map(({ id }) => id),
      [model],
    )
    assert.equal((await openai.models.retrieve(model)).id, model)
  })

  test('a stored response goes on where it is kept', async (t) => {
    const { openai } = await fleet(t)
    const input = 'Say hello.'
    const first = await openai.responses.create({ model, input, max_output_tokens: 9 })
    for (let i = 0; i < 3; i++) {
      const next = await openai.responses.create({
        model,
        input: 'Again.',
        previous_response_id: first.id,
        max_output_tokens: 9,
      })
      assert.ok(next.output_text.length > 0)
    }
    assert.equal((await openai.responses.retrieve(first.id)).id, first.id)
    await openai.responses.delete(first.id)
    await assert.rejects(openai.responses.retrieve(first.id), OpenAI.NotFoundError)
  })

  test('errors are raised as what they are', async (t) => {
    const { emulator, openai } = await fleet(t)
    const unknown = openai.chat.completions.create({ model: 'gpt-9', messages })
    await assert.rejects(unknown, OpenAI.NotFoundError)
    const tooLong = openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'word '.repeat(400_000) }],
    })
    await assert.rejects(tooLong, OpenAI.BadRequestError)
    for (const replica of emulator.replicas) {
      replica.setFaults({ breakOff: { afterEvents: 3, how: 'reset' } })
    }
    const stream = await openai.chat.completions.create({
      model,
      messages,
      max_tokens: 50,
      stream: true,
    })
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, /broke the connection/)
  })
})

describe('anthropic', () => {
  test('a message, whole and streamed', async (t) => {
    const { anthropic } = await fleet(t)
    const request = { model, messages, max_tokens: 20 }
    const whole = await anthropic.messages.create(request)
    assert.equal(whole.type, 'message')
    const stream = anthropic.messages.stream(request)
    const final = await stream.finalMessage()
    assert.ok(final.usage.output_tokens > 0)
    assert.equal(final.content[0]!.type, 'text')
  })

  test('tokens are counted, models listed, errors raised', async (t) => {
    const { anthropic } = await fleet(t)
    assert.ok((await anthropic.messages.countTokens({ model, messages })).input_tokens > 0)
    const page = await anthropic.models.list()
    assert.equal(page.data[0]!.id, model)
    const unknown = anthropic.messages.create({ model: 'gpt-9', messages, max_tokens: 9 })
    await assert.rejects(unknown, Anthropic.NotFoundError)
  })
})
