/** In decimal units, as of a file: `312 kB`, `1.04 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`
}

/** Of memory: `61 MB`. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`
}

/** `0.9 s` */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

/** `1 collection`, `12 collections` */
export function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
