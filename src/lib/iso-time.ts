/**
 * Unix seconds as ISO 8601 in UTC.
 *
 * @example isoTime(1_700_000_000) // '2023-11-14T22:13:20.000Z'
 */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
