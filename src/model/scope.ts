import type { Change } from './change.js'

/** The scope of the application itself. Any other scope is the id of a space. */
export const applicationScope = ''

/** 16 bytes, base64url. No blank at the end, which MySQL would ignore; short enough for `<scope>/<id>` in 64 characters. */
const spaceId = /^[\w-]{22}$/

/** @throws {RangeError} for a text that is neither '' nor the id of a space */
export function requireScope(scope: string): string {
  if (scope !== applicationScope && !spaceId.test(scope))
    throw new RangeError("A scope is '' or the id of a space: 22 characters, base64url.")
  return scope
}

/**
 * What a change row names: `<scope>/<id>`, and of the application the id alone, as earlier releases write and read it. They
 * run beside this one during a rolling upgrade.
 */
export function subjectIn(scope: string, id: string): string {
  return scope === applicationScope ? id : `${scope}/${id}`
}

/**
 * The change as it concerns this scope, with the bare id as its subject; null when it concerns another scope. Changes of
 * sessions and users have no scope: they concern all.
 */
export function changeIn(scope: string, change: Change): Change | null {
  if (change.kind !== 'api_token' && change.kind !== 'setting') return change
  const slash = change.subject.indexOf('/')
  const owner = slash === -1 ? applicationScope : change.subject.slice(0, slash)
  return owner === scope ? { ...change, subject: change.subject.slice(slash + 1) } : null
}
