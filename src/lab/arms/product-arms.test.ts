import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyNames } from '../../core/policy/registry.ts'
import { productArms } from './product-arms.ts'

test('each policy of the product is an arm of its name, with its defaults first', () => {
  assert.deepEqual(
    productArms.map(({ name, variants }) => [name, variants[0]?.policy().name]),
    policyNames.map((name) => [name, name]),
  )
})
