import { textsIn } from '../lib/json-fields.js'
import type { KeySetRules } from '../model/key-set.js'
import type { AccessRecord } from './access-settings.js'
import { readColumn } from './json-columns.js'
import type { KeySetsTable } from './rows.js'

/** The key set of a space; rules that are not given are null. */
export function toKeySetRow(scope: string, url: string, rules: KeySetRules | null): KeySetsTable {
  return {
    scope,
    url,
    issuer: rules?.issuer ?? null,
    audience: rules && JSON.stringify(rules.audience),
    algorithms: rules && JSON.stringify(rules.algorithms),
    exclusive: rules && (rules.exclusive ? 1 : 0),
  }
}

/** @throws {AuthError} `store_unavailable` for rules that cannot be read: without them too many tokens would be accepted */
export function toKeySet(row: KeySetsTable | null): Pick<AccessRecord, 'jwksUrl' | 'jwksRules'> {
  if (row === null) return { jwksUrl: null }
  const { url, issuer, audience, algorithms, exclusive } = row
  if (audience === null || algorithms === null) return { jwksUrl: url }
  const jwksRules: KeySetRules = {
    issuer,
    audience: readColumn({ audience }, 'audience', textsIn),
    algorithms: readColumn({ algorithms }, 'algorithms', textsIn),
    exclusive: Number(exclusive) === 1,
  }
  return { jwksUrl: url, jwksRules }
}

/** Whether a change would leave the key set as it is. */
export function isSameKeySet(row: KeySetsTable | null, url: string | null, rules: KeySetRules | null): boolean {
  if (row === null || url === null) return row === null && url === null
  const next = toKeySetRow(row.scope, url, rules)
  return (
    row.url === next.url &&
    row.issuer === next.issuer &&
    row.audience === next.audience &&
    row.algorithms === next.algorithms &&
    (row.exclusive === null) === (next.exclusive === null) &&
    Number(row.exclusive) === Number(next.exclusive)
  )
}
