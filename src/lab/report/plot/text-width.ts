/** About how wide a text of 12 px is, without a font at hand: the mean of common sans-serifs. */
export function textWidth(text: string): number {
  return text.length * 6.7
}

/** Cut to a width, with an ellipsis. */
export function cutText(text: string, width: number): string {
  const most = Math.max(1, Math.round(width / 6.7))
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`
}
