/** Why a calibration cannot begin or go on, for an operator. */
export class CalibrationProblem extends Error {
  override readonly name = 'CalibrationProblem'
  /** The command line asks for what is not there, or the engine is at fault. */
  readonly kind: 'usage' | 'unavailable'

  constructor(kind: CalibrationProblem['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}
