import { deviceOf } from '../lib/device-label.js'
import { oneLine } from '../lib/one-line.js'
import { fillLabel, type Labels } from './labels.js'

/** What templates see: strings, numbers, booleans, null, and lists and plain objects of them. */
export type Values = Readonly<Record<string, unknown>>

/**
 * A copy made of own enumerable properties only, so that a template reaches no prototype, getter or method.
 *
 * @throws {TypeError} for functions, dates and other objects that are no plain data
 */
export function plainValues(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plain(value, name)]))
}

function plain(value: unknown, name: string): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((item) => plain(item, name))
  if (isPlainObject(value)) return plainValues(value)
  throw new TypeError(`The template value ${name} is no plain data.`)
}

function isPlainObject(value: unknown): value is Values {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * The values of a mail, made safe to read: each on one line, a name that could be read as anything else left out, the
 * user agent told in our own words. What a stranger typed must never look like our link, our code or our text
 * (content injection; compare CVE-2022-31127).
 */
export function mailValues(values: Values, language: Language): Values {
  const lines = Object.entries(plainValues(values)).map(([name, value]) => [name, mailValue(name, value, language)])
  return Object.fromEntries(lines)
}

/** In what language a mail is written. */
interface Language {
  locale: string
  labels: Labels
}

function mailValue(name: string, value: unknown, { locale, labels }: Language): unknown {
  if (typeof value !== 'string') return value
  const line = oneLine(value)
  if (name === 'name') return isGreetable(line) ? line : ''
  if (name === 'device') return deviceText(line, labels)
  if (name === 'at' || name === 'until') return timeText(line, locale)
  return line
}

function deviceText(userAgent: string, labels: Labels): string {
  const { browser, system } = deviceOf(userAgent)
  if (browser && system) return fillLabel(labels['mail.deviceOn'] ?? '', { browser, system })
  return browser ?? system ?? labels['mail.deviceUnknown'] ?? ''
}

/** Letters, spaces and what stands in names: no address, no host that a mail client makes a link of, no code. */
function isGreetable(name: string): boolean {
  const isName = /^(?:[\p{L}\p{M}\p{N} .,'’‘·&()‐-]|\u200c|\u200d)+$/u.test(name)
  const digits = name.match(/\p{N}/gu) ?? []
  return isName && name.length <= 64 && digits.length < 6 && !/\.[\p{L}\p{N}]{2}/u.test(name)
}

function timeText(iso: string, locale: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return ''
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }).format(time)
}

/**
 * A moment for a page, the same for everybody who opens it. Empty for anything but an ISO time.
 *
 * @example shortTime('2026-01-31T12:00:00Z', 'en') // 'Jan 31, 2026, 12:00 PM UTC'
 */
export function shortTime(iso: unknown, locale: string): string {
  const time = new Date(typeof iso === 'string' ? iso : '')
  if (Number.isNaN(time.getTime())) return ''
  const day = { year: 'numeric', month: 'short', day: 'numeric' } as const
  const minute = { hour: 'numeric', minute: '2-digit', timeZone: 'UTC', timeZoneName: 'short' } as const
  return new Intl.DateTimeFormat(locale, { ...day, ...minute }).format(time)
}
