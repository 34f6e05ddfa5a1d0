import { readAccess } from '../../../flows/control/access-settings.js'
import type { HttpResponse } from '../../../http/message.js'
import { queryOf } from '../../../http/query.js'
import type { KeySetCheck, KeySetRules } from '../../../model/key-set.js'
import { queryText } from '../fields.js'
import { type AdminContext, defineAdminPage, showAdminPage } from './admin-page.js'

/** The usual places of a key set. */
const shapes = [
  { provider: 'Auth0', url: 'https://<TENANT_HOST>/.well-known/jwks.json' },
  { provider: 'Clerk', url: 'https://<PROVIDER_DOMAIN>/.well-known/jwks.json' },
  { provider: 'Stack Auth', url: 'https://<PROVIDER_HOST>/api/v1/projects/<PROJECT_ID>/.well-known/jwks.json' },
]

const ruleFields = ['issuer', 'audience', 'algorithms'] as const

const place = { path: '/jwks', at: 'jwks', template: 'jwks' } as const

export const jwksPage = defineAdminPage({
  home: 'space',
  who: 'member',
  ...place,
  summary: 'Shows the key set for tokens of another issuer; checks, sets and removes its URL.',
  values: (context) => jwksValues(context, null),
})

/** The result of a check, beside the URL that was checked. */
interface Checked extends KeySetCheck {
  url: string
}

async function jwksValues({ ports, request, space }: AdminContext, checked: Checked | null) {
  const { jwksUrl, fixedJwksUrl, jwksRules } = await readAccess(ports)
  const keySet = ports.keySets.inForce()
  return {
    jwksUrl,
    fixedJwksUrl,
    changed: jwksUrl !== fixedJwksUrl,
    // A space has rules beside the URL, and no settings.
    rules: jwksUrl === null || jwksRules === undefined ? null : shownRules(jwksRules),
    removeHow: space === null ? 'admin.jwks.removeHow' : 'admin.jwks.removeSpaceHow',
    keptRules: Object.fromEntries(ruleFields.map((name) => [name, queryText(request, name) ?? ''])),
    keys: keySet?.keys ?? [],
    keySet: keySet && { ...keySet, faultText: faultText(keySet.fault) },
    checked: checked && { ...checked, faultText: faultText(checked.fault) },
    kept: queryOf(request).get('url') ?? '',
    shapes,
  }
}

function shownRules({ issuer, audience, algorithms, exclusive }: KeySetRules) {
  return { issuer, audience: audience.join(', '), algorithms: algorithms.join(', '), exclusive }
}

function faultText(fault: string | null): string {
  return fault === null ? '' : `admin.jwks.fault.${fault}`
}

/** Shows what a check found as the answer to its POST. */
export async function showKeySetCheck(context: AdminContext, found: KeySetCheck, url: string): Promise<HttpResponse> {
  return showAdminPage(context, place, await jwksValues(context, { ...found, url }))
}
