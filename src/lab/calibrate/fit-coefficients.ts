/** The coefficients that explain a calibration's observations best. Pure. */
import { nonNegativeLeastSquares } from './least-squares.ts'
import {
  amountsOf,
  type Coefficient,
  coefficients,
  type Observation,
  type ObservationKind,
} from './observation.ts'

export interface FittedCoefficient {
  readonly value: number
  /** Standard error; NaN where nothing measured depends on it. */
  readonly error: number
}

/** How far the fitted model is from what was measured, as shares of the measured times. */
export interface FitQuality {
  readonly kind: ObservationKind
  /** Samples taken, of that many different experiments. */
  readonly samples: number
  readonly experiments: number
  readonly medianError: number
  readonly worstError: number
  /** The experiment that is off furthest. */
  readonly worst: string
}

export interface Fit {
  readonly coefficients: Readonly<Record<Coefficient, FittedCoefficient>>
  readonly quality: readonly FitQuality[]
}

/**
 * Of each experiment the sample with the median time counts: what else a machine does now and then
 * makes single ones late. All weigh the same by their relative errors, or the longest prompts would
 * decide everything.
 * @param leftOut coefficients that the observations cannot tell from others; they will be 0
 */
export function fitCoefficients(
  observations: readonly Observation[],
  batchTokensMax: number,
  leftOut: readonly Coefficient[] = [],
): Fit {
  const groups = Map.groupBy(observations, ({ experiment, kind }) => `${kind} ${experiment}`)
  const typical = [...groups.values()].map(medianSample)
  const rows = typical.map((one) =>
    amountsOf(one, batchTokensMax).map((amount, i) =>
      leftOut.includes(coefficients[i]) ? 0 : amount / one.ms,
    ),
  )
  const fit = nonNegativeLeastSquares(
    rows,
    typical.map(() => 1),
  )
  const offBy = rows.map((row) =>
    Math.abs(row.reduce((sum, amount, i) => sum + amount * fit.values[i], 0) - 1),
  )
  const kinds = [...new Set(typical.map(({ kind }) => kind))]
  return {
    coefficients: Object.fromEntries(
      coefficients.map((name, i) => [name, { value: fit.values[i], error: fit.errors[i] }]),
    ) as Record<Coefficient, FittedCoefficient>,
    quality: kinds.map((kind) => {
      const of = typical.flatMap((one, i) =>
        one.kind === kind ? [{ experiment: one.experiment, error: offBy[i] }] : [],
      )
      of.sort((a, b) => a.error - b.error)
      const worst = of[of.length - 1]
      return {
        kind,
        samples: observations.filter((one) => one.kind === kind).length,
        experiments: of.length,
        medianError: of[(of.length - 1) >> 1].error,
        worstError: worst.error,
        worst: worst.experiment,
      }
    }),
  }
}

function medianSample(samples: readonly Observation[]): Observation {
  const ascending = samples.toSorted((a, b) => a.ms - b.ms)
  return ascending[(ascending.length - 1) >> 1]
}
