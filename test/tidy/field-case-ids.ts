/** The ids of the field cases that the project follows. */
import type { Rule } from './source-tree.ts'
import { isTest, isTypeScript } from './source-tree.ts'

/** Numbers of F001 to F145; those left out were never given or merged into another. */
const numbers = [
  1, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 20, 21, 23, 24, 25, 27, 28, 29, 31, 32, 33, 35,
  36, 37, 39, 40, 41, 43, 44, 45, 47, 48, 49, 51, 52, 53, 55, 56, 57, 59, 60, 61, 63, 64, 65, 67,
  68, 69, 71, 72, 73, 75, 76, 77, 79, 80, 81, 83, 84, 85, 87, 88, 89, 91, 92, 93, 95, 96, 97, 99,
  100, 101, 103, 104, 105, 107, 108, 109, 111, 112, 113, 115, 116, 117, 119, 120, 121, 123, 124,
  125, 127, 128, 129, 131, 132, 133, 135, 136, 137, 139, 140, 141, 143, 144, 145,
]

const known = new Set(numbers.map((number) => `F${String(number).padStart(3, '0')}`))

/** An id in a test is one that exists, so that a search for a case finds its test. */
export const fieldCaseIds: Rule = (files) =>
  files
    .filter((file) => isTypeScript(file) && isTest(file.path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, i) =>
          [...line.matchAll(/\bF\d{3}\b/g)]
            .filter(([id]) => !known.has(id))
            .map(([id]) => ({ path, line: i + 1, message: `${id} is no field case` })),
        ),
    )
