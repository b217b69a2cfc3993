import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nonNegativeLeastSquares } from './least-squares.ts'

const amounts = fc.array(
  fc.array(fc.double({ min: 0, max: 10, noNaN: true }), { minLength: 4, maxLength: 4 }),
  { minLength: 6, maxLength: 12 },
)

test('no step away from the result, within what is allowed, lowers the sum of squares', () => {
  fc.assert(
    fc.property(
      amounts,
      fc.infiniteStream(fc.double({ min: -5, max: 20, noNaN: true })),
      (rows, ys) => {
        const targets = rows.map(() => ys.next().value)
        const { values } = nonNegativeLeastSquares(rows, targets)
        const residuals = rows.map(
          (row, i) => row.reduce((sum, a, j) => sum + a * values[j], 0) - targets[i],
        )
        for (const [j, value] of values.entries()) {
          assert.ok(value >= 0)
          const gradient = rows.reduce((sum, row, i) => sum + row[j] * residuals[i], 0)
          const size = rows.reduce((sum, row, i) => sum + Math.abs(row[j] * targets[i]), 1)
          if (value > 0)
            assert.ok(Math.abs(gradient) < 1e-6 * size, `slope ${gradient} at ${value}`)
          else assert.ok(gradient > -1e-6 * size, `slope ${gradient} at 0`)
        }
      },
    ),
  )
})

test('coefficients many orders of magnitude apart are found', () => {
  const truth = [13.5, 2.1e-6, 0.048]
  const rows = [96, 400, 1_600, 6_400, 25_600].map((n) => [1, (n * n) / 2, n])
  const targets = rows.map((row) => row.reduce((sum, a, j) => sum + a * truth[j], 0))
  const { values, errors } = nonNegativeLeastSquares(rows, targets)
  for (const [j, value] of values.entries()) {
    assert.ok(Math.abs(value / truth[j] - 1) < 1e-6)
    assert.ok(errors[j] < 1e-6 * truth[j])
  }
})

test('what the rows do not depend on is 0 and has no error', () => {
  const { values, errors } = nonNegativeLeastSquares(
    [
      [1, 0],
      [2, 0],
      [3, 0],
    ],
    [2, 4, 6],
  )
  assert.ok(Math.abs(values[0] - 2) < 1e-9)
  assert.equal(values[1], 0)
  assert.ok(Number.isNaN(errors[1]))
})
