import { text } from '../settings/field.js'
import type { JudgedProviderInput } from '../settings/input.js'
import { judgedClient, secretClientOf } from '../settings/providers.js'
import { accountId, textOf } from './account.js'
import { nonceParameter } from './code-flow.js'
import { defineProvider, type ProviderKind } from './kind.js'
import { refuse } from './questions.js'
import { idTokenClaims } from './token-request.js'

export interface MicrosoftInput extends JudgedProviderInput {
  /** `common`, `organizations`, `consumers`, or the id of a directory (a GUID). Default: `common`. */
  TENANT?: string | undefined
}

const host = 'https://login.microsoftonline.com'
const guid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The directory of all personal accounts. */
const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'

/** A domain name is not accepted: tokens name the directory by its id only, so a name could not be compared. */
const tenant = text('must be common, organizations, consumers or the id of a directory (a GUID)', (value) => {
  const lower = value.toLowerCase()
  return ['common', 'organizations', 'consumers'].includes(lower) || guid.test(lower) ? lower : null
})

const schema = judgedClient
  .extend({
    TENANT: tenant.prefault('common'),
  })
  .transform(({ trustEmail, TENANT, ...given }) => ({
    ...secretClientOf(given),
    trustEmail,
    tenant: TENANT,
  }))

/**
 * Microsoft, by the id_token of version 2.0.
 *
 * The directory and the subject in it identify an account: only issuer and subject together are unique and never reassigned
 * (OpenID Connect Core §5.7). The administrator of any directory may enter any address. So an address counts as confirmed
 * only if Microsoft states that the directory has proved its domain (`xms_edov`).
 */
export const microsoft: ProviderKind<MicrosoftInput> = defineProvider({
  kind: 'microsoft',
  schema,
  recipe({ clientId, clientSecret, tenant, trustEmail }, { idTokens }) {
    const base = `${host}/${tenant}`
    const isIssuer = (issuer: string) => admits(tenant, directoryOf(issuer))
    return {
      label: 'Microsoft',
      scopes: ['openid', 'email', 'profile'],
      parameters: nonceParameter,
      endpoints: () => ({
        authorization: `${base}/oauth2/v2.0/authorize`,
        token: `${base}/oauth2/v2.0/token`,
        secretIn: 'body',
        namesItself: false,
        isIssuer,
      }),
      clientSecret: () => clientSecret,
      async account(tokens, _endpoints, answer) {
        const rules = { keySetUrl: `${base}/discovery/v2.0/keys`, algorithms: ['RS256'], clientId, isIssuer }
        const claims = await idTokenClaims(idTokens, tokens, rules, answer)
        const { iss, tid } = claims
        // One key set signs for every directory. Issuer and `tid` must name the same one.
        if (typeof tid !== 'string' || tid !== directoryOf(String(iss))) return refuse('id_token_issuer')

        const email = textOf(claims.email)
        const emailVerified = email === null ? null : provedDomain(claims.xms_edov)
        return {
          id: accountId(`${tid}.${accountId(claims.sub)}`),
          email,
          emailVerified,
          authoritative: emailVerified === true && trustEmail,
          name: textOf(claims.name),
        }
      },
    }
  },
})

/** The id of the directory that has this issuer; null if no directory has it. */
function directoryOf(issuer: string): string | null {
  const id = issuer.startsWith(`${host}/`) && issuer.endsWith('/v2.0') ? issuer.slice(host.length + 1, -5) : ''
  return guid.test(id) ? id : null
}

/** Whether accounts of that directory may sign in. */
function admits(tenant: string, directory: string | null): boolean {
  if (directory === null) return false
  if (tenant === 'common') return true
  if (tenant === 'organizations') return directory !== personal
  return directory === (tenant === 'consumers' ? personal : tenant)
}

/** An optional claim. Microsoft sends it as a boolean, a number or a text. */
function provedDomain(claim: unknown): boolean | null {
  if (claim === undefined) return null
  return claim === true || claim === 1 || claim === '1' || claim === 'true'
}
