import { text } from '../../settings/field.js'

/** A whole number and a unit of 1,024: `'10MiB'`. */
export type Size = `${number}${'KiB' | 'MiB' | 'GiB'}`

const unitBytes: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Reads a size into bytes; null when the text is not a size. */
function parseSize(value: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,5})(KiB|MiB|GiB)$/.exec(value) ?? []
  const factor = unitBytes[unit ?? '']
  return factor === undefined ? null : Number(count) * factor
}

/** A size within bounds. The result is in bytes. */
export function size(least: Size, most: Size) {
  const minimum = parseSize(least) ?? 0
  const maximum = parseSize(most) ?? 0
  return text(`must be a size such as '512KiB', '10MiB' or '1GiB', from ${least} to ${most}`, (value) => {
    const bytes = parseSize(value)
    return bytes === null || bytes < minimum || bytes > maximum ? null : bytes
  })
}
