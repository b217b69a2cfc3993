import assert from 'node:assert/strict'
import { test } from 'node:test'
import { darkPalette, lightPalette } from './palette.ts'

type Triple = readonly [number, number, number]
type Matrix = readonly [Triple, Triple, Triple]

/** Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB. */
const visions: Readonly<Record<string, Matrix>> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** Björn Ottosson's OKLab: equal distances look about equal; black to white is 1. */
const toCones: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
]
const toLab: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
]

for (const [name, palette] of Object.entries({ light: lightPalette, dark: darkPalette })) {
  test(`${name}: colours of series can be told apart and from the page, by every eye`, () => {
    for (const [vision, matrix] of Object.entries(visions)) {
      const seen = palette.series.map((colour) => oklab(times(matrix, linear(colour))))
      for (const [i, one] of seen.entries()) {
        for (const [n, other] of seen.slice(0, i).entries()) {
          const apart = distance(one, other)
          assert.ok(apart > 0.08, `${vision}: series ${i} and ${n} are ${apart.toFixed(3)} apart`)
        }
      }
    }
    for (const colour of palette.series) {
      const ratio = contrast(linear(colour), linear(palette.page))
      assert.ok(ratio >= 3, `${colour} on the page: ${ratio.toFixed(2)}`)
    }
    for (const colour of [palette.text, palette.muted]) {
      assert.ok(contrast(linear(colour), linear(palette.page)) >= 4.5, `${colour} is hard to read`)
    }
  })
}

function linear(colour: string): Triple {
  const channel = (at: number): number => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(1), channel(3), channel(5)]
}

function times(matrix: Matrix, [a, b, c]: Triple): Triple {
  const row = ([x, y, z]: Triple): number => x * a + y * b + z * c
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])]
}

function oklab(colour: Triple): Triple {
  const [l, m, s] = times(toCones, colour)
  return times(toLab, [Math.cbrt(l), Math.cbrt(m), Math.cbrt(s)])
}

function distance(a: Triple, b: Triple): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

/** WCAG 2. */
function contrast(a: Triple, b: Triple): number {
  const light = ([r, g, b]: Triple): number => 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
  return Math.max(light(a), light(b)) / Math.min(light(a), light(b))
}
