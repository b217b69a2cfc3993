import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertHead, hashesOf, readOk, sharedBlocks } from '../../test/support/prompts.ts'
import { blockBytes } from '../core/block-chain.ts'
import type { AnswerPart } from './prompt-hasher.ts'

const long = (word: string, bytes = 1_000): string => `${word} `.repeat(bytes).slice(0, bytes)
const chain = (body: object, namespace = '') => readOk('chat', body, namespace).prompt.chain
const same = (a: object, b: object): void =>
  assert.deepEqual(hashesOf(chain(a)), hashesOf(chain(b)))
const differ = (a: object, b: object): void =>
  assert.notDeepEqual(hashesOf(chain(a)), hashesOf(chain(b)))

const user = (content: unknown) => ({ role: 'user', content })
const body = { model: 'm', messages: [user(long('hello'))] }
const tool = (name: string, extra: object = {}) => ({
  type: 'function',
  function: { name, description: long('does', 300), parameters: { type: 'object', ...extra } },
})

test('only whole blocks are hashed, and all bytes counted', () => {
  const { prompt } = readOk('completions', { model: 'm', prompt: 'x'.repeat(3 * blockBytes) })
  assert.equal(prompt.bytes, 3 * blockBytes + 2)
  assert.equal(prompt.chain.length, 3)
  assert.equal(readOk('completions', { model: 'm', prompt: 'x' }).prompt.chain.length, 0)
})

test('a block differs from the same text at another place, and from any other text', () => {
  const hashes = hashesOf(chain({ ...body, messages: [user('x'.repeat(100 * blockBytes))] }))
  assert.equal(new Set(hashes).size, hashes.length)
})

test('what does not reach the model does not reach the hash', () => {
  same(body, { ...body, temperature: 0.1, stream: true, vendor: { a: 1 }, tool_choice: 'none' })
  same(body, { ...body, messages: [{ content: long('hello'), vendor: 'x', role: 'user' }] })
  same(body, { ...body, messages: [user([{ type: 'text', text: long('hello') }])] })
  const marked = { type: 'text', text: long('hello'), cache_control: { type: 'ephemeral' } }
  same(body, { ...body, messages: [user([marked])] })
})

test('what reaches the model reaches the hash', () => {
  differ(body, { ...body, model: 'n' })
  differ(body, { ...body, messages: [{ role: 'system', content: long('hello') }] })
  differ(body, { ...body, messages: [{ ...user(long('hello')), name: 'ann' }] })
  differ(body, { ...body, chat_template_kwargs: { enable_thinking: true } })
  const [a, b] = [long('a'), long('b')]
  const text = (part: string) => ({ type: 'text', text: part })
  differ({ ...body, messages: [user(a + b)] }, { ...body, messages: [user([text(a), text(b)])] })
  differ({ ...body, messages: [user(a), user(b)] }, { ...body, messages: [user(b), user(a)] })
})

test('no text passes for structure', () => {
  const split = { ...body, messages: [user(long('a')), { role: 'assistant', content: 'b' }] }
  differ(split, { ...body, messages: [user(`${long('a')}\u00ffMassistant\u00ffTb`)] })
})

test('F073: an adapter is not the salt of the same name', () => {
  const names = [
    chain({ ...body, lora_path: 'x' }),
    chain({ ...body, cache_salt: 'x' }),
    chain(body, 'x'),
    chain({ ...body, model: 'mx' }),
    chain(body),
  ]
  assert.equal(new Set(names.map((each) => hashesOf(each)[0])).size, names.length)
})

test('F076: tools count, their order counts, the order of their keys does not', () => {
  const [a, b] = [tool('a', { x: 1, y: 2 }), tool('b')]
  differ(body, { ...body, tools: [a] })
  differ({ ...body, tools: [a] }, { ...body, tools: [b] })
  differ({ ...body, tools: [a, b] }, { ...body, tools: [b, a] })
  const { name, description } = a.function
  const turned = { function: { parameters: { y: 2, x: 1, type: 'object' }, description, name } }
  same({ ...body, tools: [a] }, { ...body, tools: [{ ...turned, type: 'function' }] })
})

test('F075: another image changes the chain from its own block on, and no text before it', () => {
  const image = (data: string) => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${data.repeat(2_000)}` },
  })
  const withImage = (data: string) =>
    chain({
      ...body,
      messages: [user([{ type: 'text', text: long('look') }, image(data)]), user(long('and'))],
    })
  const [cat, dog] = [withImage('AAAA'), withImage('BBBB')]
  assert.deepEqual(hashesOf(cat), hashesOf(withImage('AAAA')))
  assert.equal(sharedBlocks(cat, dog), Math.floor(long('look').length / blockBytes))
  assert.ok(cat.length > 1_024 * (4 / blockBytes) + 2 * (1_000 / blockBytes) - 2)
})

test('a JSON value nested without end is read without end of the stack', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const text = `{"model":"m","messages":[],"tools":[{"x":${deep}}]}`
  assert.ok(readOk('chat', text).prompt.bytes > 0)
})

test("Claude Code's attribution line, which changes each time, is not part of the prompt", () => {
  const system = (cch: string) => [
    { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1; cch=${cch};` },
    { type: 'text', text: long('You are'), cache_control: { type: 'ephemeral' } },
  ]
  const messages = [user(long('hi'))]
  const read = (cch: string) => readOk('messages', { model: 'm', system: system(cch), messages })
  assert.deepEqual(hashesOf(read('a').prompt.chain), hashesOf(read('b').prompt.chain))
})

test('long texts of any script are hashed whole, in whichever pieces they are written', () => {
  const text = '日本語😀é'.repeat(40_000)
  const { prompt } = readOk('completions', { model: 'm', prompt: text })
  assert.equal(prompt.bytes, Buffer.byteLength(text) + 2)
  const other = `${text.slice(0, -2)}日本`
  const { chain: otherChain } = readOk('completions', { model: 'm', prompt: other }).prompt
  assert.equal(sharedBlocks(prompt.chain, otherChain), Math.floor((prompt.bytes - 8) / blockBytes))
})

test('prompts as token ids share a prefix as text does', () => {
  const ids = Array.from({ length: 1_000 }, (_, i) => i * 37)
  const read = (prompt: unknown) => readOk('completions', { model: 'm', prompt }).prompt
  assert.equal(read(ids).bytes, 4_002)
  assert.deepEqual(hashesOf(read(ids).chain), hashesOf(read([ids, [1]]).chain))
  assert.equal(sharedBlocks(read(ids).chain, read([...ids, 5]).chain), read(ids).chain.length)
})

const textOf = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 700 }),
  fc.constantFrom(long('x', 400), '', 'é日😀'),
)
const callOf = fc.record({
  name: fc.string({ minLength: 1 }),
  input: fc.dictionary(fc.string(), fc.jsonValue()),
})
const turnOf = fc.record({ user: textOf, text: textOf, calls: fc.array(callOf, { maxLength: 2 }) })
type Turn = {
  user: string
  text: string
  calls: { name: string; input: Record<string, unknown> }[]
}

function answerOf(turn: Turn): AnswerPart[] {
  const calls = turn.calls.map(
    ({ name, input }): AnswerPart => ({
      type: 'tool-call',
      name,
      arguments: JSON.stringify(input),
    }),
  )
  return turn.text === '' ? calls : [{ type: 'text', text: turn.text }, ...calls]
}

const chatMessages = (turn: Turn) => [
  user(turn.user),
  {
    role: 'assistant',
    content: turn.text || null,
    tool_calls: turn.calls.map(({ name, input }, id) => ({
      id: `call_${id}`,
      function: { name, arguments: JSON.stringify(input, null, 2) },
    })),
  },
]

const anthropicMessages = (turn: Turn) => [
  user([{ type: 'text', text: turn.user }]),
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'x' },
      { type: 'text', text: turn.text },
      ...turn.calls.map(({ name, input }, id) => ({ type: 'tool_use', id: `${id}`, name, input })),
    ],
  },
]

const responsesItems = (turn: Turn) => [
  { role: 'user', content: turn.user },
  { type: 'reasoning', id: 'rs', summary: [] },
  ...(turn.text === '' && turn.calls.length > 0
    ? []
    : [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.text }] },
      ]),
  ...turn.calls.map(({ name, input }) => ({
    type: 'function_call',
    name,
    arguments: JSON.stringify(input),
  })),
]

type Case = ['chat' | 'messages' | 'responses', string, (turn: Turn) => object[]]
const cases: Case[] = [
  ['chat', 'messages', chatMessages],
  ['messages', 'messages', anthropicMessages],
  ['responses', 'input', responsesItems],
]
for (const [api, field, items] of cases) {
  const read = (list: unknown[]) => readOk(api, { model: 'm', [field]: list }).prompt
  test(`${api}: a conversation, and its continued answer, begin the longer one`, () => {
    fc.assert(
      fc.property(fc.array(turnOf, { minLength: 1, maxLength: 6 }), textOf, (turns, last) => {
        const all = turns.flatMap(items)
        const whole = read([...all, user(last)])
        let list: unknown[] = []
        for (const turn of turns) {
          const prompt = read([...list, items(turn)[0]])
          assertHead(prompt, whole)
          const answered = prompt.hasher.continueWithAnswer(answerOf(turn))
          assert.ok(answered !== null)
          assertHead(answered, whole)
          list = [...list, ...items(turn)]
          assert.equal(answered.bytes, read(list).bytes)
        }
      }),
    )
  })
}

test('a prefilled answer goes on with its text, without a seam', () => {
  const turns = (answer: string) => [user('Count.'), { role: 'assistant', content: answer }]
  const rest = long('two three')
  for (const [api, extra] of [
    ['messages', {}],
    ['chat', { continue_final_message: true }],
  ] as const) {
    const read = (answer: string) => readOk(api, { ...extra, messages: turns(answer) }).prompt
    const answered = read('one ').hasher.continueWithAnswer([{ type: 'text', text: rest }])
    assert.deepEqual(hashesOf(answered!.chain), hashesOf(read(`one ${rest}`).chain))
  }
  const text = (prompt: string) => readOk('completions', { prompt }).prompt
  const answered = text('one ').hasher.continueWithAnswer([{ type: 'text', text: rest }])
  assert.deepEqual(hashesOf(answered!.chain), hashesOf(text(`one ${rest}`).chain))
})

test('embeddings and token ids have no answer that a prompt could follow', () => {
  assert.equal(readOk('embeddings', { input: 'x' }).prompt.hasher.continueWithAnswer([]), null)
  assert.equal(readOk('completions', { prompt: [1] }).prompt.hasher.continueWithAnswer([]), null)
})

/** Writes a value as JSON with its keys turned round, blanks strewn in and characters escaped. */
function writeOddly(value: unknown): string {
  if (typeof value === 'string') {
    return `"${[...Array(value.length).keys()].map((i) => escaped(value.charCodeAt(i))).join('')}"`
  }
  if (Array.isArray(value)) return `[ ${value.map(writeOddly).join(' ,\n')}]`
  if (typeof value !== 'object' || value === null) return `\t${JSON.stringify(value)} `
  const entries = Object.entries(value).reverse()
  return `{\r\n${entries.map(([k, v]) => `${writeOddly(k)} : ${writeOddly(v)}`).join(' , ')}}`
}
const escaped = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`

test('formatting, the order of keys and escapes make no difference', () => {
  fc.assert(
    fc.property(fc.array(turnOf, { maxLength: 3 }), fc.jsonValue(), (turns, parameters) => {
      const tools = [{ type: 'function', function: { name: 't', parameters } }]
      const plain = { model: 'm', tools, messages: turns.flatMap(chatMessages) }
      const [a, b] = [readOk('chat', plain), readOk('chat', writeOddly(plain))]
      assert.equal(a.prompt.bytes, b.prompt.bytes)
      assert.deepEqual(hashesOf(a.prompt.chain), hashesOf(b.prompt.chain))
    }),
  )
})
