/** Wall-clock time, ISO 8601 in UTC: for people and logs, never for measuring. */
export function wallTime(): string {
  return new Date().toISOString()
}
