import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { blockBytes } from '../core/block-chain.ts'
import { BlockHasher, type HasherState } from './block-hasher.ts'

const prime = 0x9e3779b185ebca87n
const lanes = [0x60ea27eeadc0b5d6n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x61c8864e7a143579n]
const turns = [1n, 7n, 12n, 18n]

const low64 = (value: bigint): bigint => BigInt.asUintN(64, value)
const rotl = (value: bigint, by: bigint): bigint => low64((value << by) | (value >> (64n - by)))

function avalanche(value: bigint): bigint {
  let h = value
  h = low64((h ^ (h >> 33n)) * 0xff51afd7ed558ccdn)
  h = low64((h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n)
  return h ^ (h >> 33n)
}

/** The same hashes, one block after the other, in plain code. */
function naiveChain(bytes: Buffer, seedLo: number, seedHi: number): [number[], number[]] {
  const los: number[] = []
  const his: number[] = []
  let hash = (BigInt(seedHi >>> 0) << 32n) | BigInt(seedLo >>> 0)
  for (let at = 0; at + blockBytes <= bytes.length; at += blockBytes) {
    let joined = low64(hash * lanes[1]!)
    lanes.forEach((start, lane) => {
      let value = start
      for (let i = at + 8 * lane; i < at + blockBytes; i += 32) {
        value = low64((rotl(value, 31n) ^ bytes.readBigUInt64LE(i)) * prime)
      }
      joined += rotl(value, turns[lane]!)
    })
    hash = avalanche(low64(joined))
    los.push(Number(hash & 0xffffffffn))
    his.push(Number(hash >> 32n))
  }
  return [los, his]
}

const hasher = new BlockHasher()

/** All that a state says; what lies behind its last byte is nobody's. */
function said({ lo, hi, chain, bytes }: HasherState) {
  const { length } = chain
  const tail = Buffer.from(chain.lo.slice(length).buffer).subarray(0, bytes % blockBytes)
  return { lo, hi, los: [...chain.lo.subarray(0, length)], his: [...chain.hi], tail, bytes }
}

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
      const [los, his] = naiveChain(stream, seed, ~seed)
      const state = said(hasher.state())
      assert.equal(state.bytes, stream.length)
      assert.deepEqual(state.los, los)
      assert.deepEqual(state.his, his)
      assert.deepEqual(state.tail, stream.subarray(los.length * blockBytes))
      const { lo } = hasher.chain()
      assert.deepEqual([...lo], los)
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
      const straight = said(hasher.state())
      hasher.start(3, 4)
      hasher.text('another stream in between'.repeat(40))
      hasher.resume(state)
      hasher.text(b)
      assert.deepEqual(said(hasher.state()), straight)
    }),
  )
})
