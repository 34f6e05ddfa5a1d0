import { memberOf } from '../../../lib/members.js'
import type { Found } from './document.js'

type Method = (...input: unknown[]) => unknown

/** A method of an object that the platform handed out, bound to it. */
export function methodOf(owner: unknown, name: string): Method {
  const method = memberOf(owner, name)
  if (typeof method !== 'function') throw new Error(`database: this Datastore has no ${name}.`)
  return (...input) => Reflect.apply(method, owner, input)
}

/** A document as the platform gives it; ids may be objects there. */
export function rowOf(document: unknown): Found {
  const { _id, key, ...row } = Object(document)
  return { id: String(_id), key: String(key), row }
}

/** Text as it was set; some hosts hand JSON back as what it says. */
export function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether the platform says that there is no such document: a text, an object or an Error, each with its own words. */
export function isNotFound(error: unknown): boolean {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
  const text = typeof reason === 'string' ? reason : fieldOf(reason, 'message') || fieldOf(reason, 'error')
  return /not\s*found/i.test(text)
}

function fieldOf(owner: unknown, name: string): string {
  const value = memberOf(owner, name)
  return typeof value === 'string' ? value : ''
}
