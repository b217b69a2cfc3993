import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { blockBytes } from '../core/block-chain.ts'
import { BlockHasher } from './block-hasher.ts'

const prime1 = 0x9e3779b1
const prime2 = 0x85ebca77

const rotl = (value: number, by: number): number => (value << by) | (value >>> (32 - by))

function avalanche(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** The same hashes, one block after the other, in plain code. */
function naiveChain(bytes: Buffer, seedLo: number, seedHi: number): [number[], number[]] {
  const los: number[] = []
  const his: number[] = []
  let lo = seedLo | 0
  let hi = seedHi | 0
  for (let at = 0; at + blockBytes <= bytes.length; at += blockBytes) {
    let [a, b, c, d] = [lo, hi, hi ^ 0xc2b2ae3d, lo ^ 0x27d4eb2f]
    for (let i = at; i < at + blockBytes; i += 16) {
      const [w0, w1, w2, w3] = [0, 4, 8, 12].map((k) => bytes.readInt32LE(i + k)) as number[]
      a = Math.imul(rotl(Math.imul(a ^ w0!, prime1), 13) ^ w2!, prime1)
      b = Math.imul(rotl(Math.imul(b ^ w0!, prime2), 17) ^ w2!, prime2)
      c = Math.imul(rotl(Math.imul(c ^ w1!, prime1), 13) ^ w3!, prime1)
      d = Math.imul(rotl(Math.imul(d ^ w1!, prime2), 17) ^ w3!, prime2)
      a = rotl(a, 13)
      b = rotl(b, 17)
      c = rotl(c, 13)
      d = rotl(d, 17)
    }
    const low = avalanche(a + rotl(c, 9))
    const high = avalanche(b + rotl(d, 9))
    lo = (low + high) | 0
    hi = (high + Math.imul(lo, prime1)) | 0
    los.push(lo >>> 0)
    his.push(hi >>> 0)
  }
  return [los, his]
}

const hasher = new BlockHasher()

test('the chain is that of the stream’s bytes, however they were written', () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.string({ maxLength: 400, unit: 'binary' }),
    fc.constantFrom('x'.repeat(70_000), '漢'.repeat(50_000), '"\n\\'.repeat(1_000)),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.integer(), (texts, seed) => {
      hasher.start(seed, ~seed)
      const written: Buffer[] = []
      for (const text of texts) {
        hasher.tag(0x54)
        hasher.text(text)
        written.push(Buffer.from([0xff, 0x54]), Buffer.from(JSON.stringify(text).slice(1, -1)))
      }
      const stream = Buffer.concat(written)
      const { chain, bytes, tail } = hasher.state()
      const [los, his] = naiveChain(stream, seed, ~seed)
      assert.equal(bytes, stream.length)
      assert.deepEqual([...chain.lo.subarray(0, chain.length)], los)
      assert.deepEqual([...chain.hi.subarray(0, chain.length)], his)
      assert.deepEqual(Buffer.from(tail), stream.subarray(los.length * blockBytes))
    }),
    { numRuns: 200 },
  )
})

test('a stream that is resumed goes on as if it had never stopped', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 900 }), fc.string({ maxLength: 900 }), (a, b) => {
      hasher.start(1, 2)
      hasher.text(a)
      const state = hasher.state()
      hasher.text(b)
      const straight = hasher.state()
      hasher.start(3, 4)
      hasher.text('another stream in between'.repeat(40))
      hasher.resume(state)
      hasher.text(b)
      assert.deepEqual(hasher.state(), straight)
    }),
  )
})
