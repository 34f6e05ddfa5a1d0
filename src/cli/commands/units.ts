import { type Duration, parseDuration } from '../../lib/duration.js'
import { createWorld } from '../../lib/runtime.js'
import { usage } from '../tool-error.js'

/**
 * A moment to come, as ISO 8601 in UTC: a time from now such as `90d`, or a date.
 *
 * @throws {ToolError} usage
 */
export function futureTime(text: string, option: string): string {
  return momentOf(text, option, 1)
}

/** A moment that has passed: `7d` ago, or a date. @throws {ToolError} usage */
export function pastTime(text: string, option: string): string {
  return momentOf(text, option, -1)
}

/** @throws {ToolError} usage */
export function duration(text: string, option: string): Duration {
  if (isDuration(text)) return text
  throw usage(`${option} takes a time such as 1d, 12h or 30m, not "${text}".`)
}

/** Minutes are exact enough for a table: `2026-11-24T18:40Z`. */
export function shortTime(time: string | null, none: string): string {
  return time === null ? none : time.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d(?:\.\d+)?Z$/, '$1Z')
}

/** How long ago a moment is, in its largest unit: `2 days ago`. */
export function ago(time: string): string {
  const seconds = Math.max(0, Math.floor((createWorld().now() - Date.parse(time)) / 1000))
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [60, null]
  if (unit === null) return 'just now'
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

const units = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const

function momentOf(text: string, option: string, direction: 1 | -1): string {
  const seconds = parseDuration(text)
  const atMs = seconds === null ? Date.parse(text) : createWorld().now() + direction * seconds * 1000
  if (/^\d{4}-|^\d+[smhdw]$/.test(text) && !Number.isNaN(atMs)) return new Date(atMs).toISOString()
  throw usage(`${option} takes a time such as 90d or a date such as 2030-01-31, not "${text}".`)
}

function isDuration(text: string): text is Duration {
  return parseDuration(text) !== null
}

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
