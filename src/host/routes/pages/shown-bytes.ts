/** For people: `61 MB`. */
export function shownBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`
  return `${Math.round(bytes / 1_000_000)} MB`
}
