/** A whole number and a unit: `'15m'`. Units: seconds, minutes, hours, days, weeks. */
export type Duration = `${number}${'s' | 'm' | 'h' | 'd' | 'w'}`

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

/**
 * Reads a duration such as `'15m'` into seconds. Units: `s m h d w`.
 *
 * Only positive whole numbers with a unit count: `'100'` means milliseconds to one library and seconds to the next, and
 * `'-1h'` is a time in the past.
 *
 * @returns seconds, or null when the text is no duration
 * @example parseDuration('15m') // 900
 */
export function parseDuration(input: unknown): number | null {
  if (typeof input !== 'string') return null
  const [, count, unit] = /^([1-9]\d{0,8})([smhdw])$/.exec(input) ?? []
  const factor = unitSeconds[unit ?? '']
  return factor === undefined ? null : Number(count) * factor
}
