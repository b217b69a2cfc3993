/**
 * Eight colours for each scheme, searched for so that any two stay apart (in OKLab) for readers
 * with any of the three colour blindnesses, and each from the page. The first ones differ most.
 */
export const lightPalette: Palette = {
  page: '#ffffff',
  text: '#1b1f24',
  muted: '#59636e',
  grid: '#e3e7ec',
  series: ['#2057dd', '#f23c00', '#009673', '#7b1981', '#6d5559', '#7391bd', '#373415', '#a76eff'],
}

export const darkPalette: Palette = {
  page: '#15181c',
  text: '#e6e9ed',
  muted: '#9aa4af',
  grid: '#2c323a',
  series: ['#5c94ff', '#ee6900', '#5ce49b', '#b76e95', '#edf64c', '#b9e4ff', '#8fa3c2', '#7a5ff5'],
}

export interface Palette {
  readonly page: string
  readonly text: string
  /** Axes, notes. */
  readonly muted: string
  readonly grid: string
  readonly series: readonly string[]
}
