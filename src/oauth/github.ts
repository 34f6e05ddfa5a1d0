import { isObject } from '../lib/json-object.js'
import type { ProviderInput } from '../settings/input.js'
import { secretClient, secretClientOf } from '../settings/providers.js'
import { textOf } from './account.js'
import type { Endpoints } from './code-flow.js'
import { defineProvider, type ProviderKind } from './kind.js'
import type { ProviderAccount } from './provider.js'
import { type Asking, askJson, askObject, refuse } from './questions.js'

const endpoints: Endpoints = {
  authorization: 'https://github.com/login/oauth/authorize',
  token: 'https://github.com/login/oauth/access_token',
  secretIn: 'body',
  namesItself: false,
  // GitHub documents no issuer. If it ever sends one, it must be on its own host.
  isIssuer: (issuer) => issuer === 'https://github.com' || issuer.startsWith('https://github.com/'),
}
const userUrl = 'https://api.github.com/user'
const emailsUrl = 'https://api.github.com/user/emails'
const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

/** The most addresses that GitHub puts on a page, and how many pages are searched for the primary address. */
const perPage = 100
const pages = 3

/** GitHub, by its API: it has no id_token, and users may write any address into their profile. */
export const github: ProviderKind<ProviderInput> = defineProvider({
  kind: 'github',
  schema: secretClient.transform(secretClientOf),
  recipe: ({ clientSecret }, { world }) => ({
    label: 'GitHub',
    isAuthority: true,
    scopes: ['read:user', 'user:email'],
    parameters: () => ({}),
    endpoints: () => endpoints,
    clientSecret: () => clientSecret,
    async account({ accessToken }) {
      const user = await askObject(world, 'user', userUrl, accessToken, headers)
      const id = idOf(user.id)
      return { id, ...(await primaryAddress(world, accessToken)), name: textOf(user.name) ?? textOf(user.login) }
    },
  }),
})

/** The number as decimal digits. Above the safe range of JSON numbers, two ids could read the same, so those are refused. */
function idOf(value: unknown): string {
  const digits = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof digits === 'string' && /^[1-9]\d{0,17}$/.test(digits) ? digits : refuse('no_id')
}

type Address = Pick<ProviderAccount, 'email' | 'emailVerified' | 'authoritative'>

/** Only the confirmed primary address counts. It is `authoritative`, because GitHub removes addresses that are not confirmed. */
async function primaryAddress(world: Asking, accessToken: string): Promise<Address> {
  for (let page = 1; page <= pages; page += 1) {
    const url = `${emailsUrl}?per_page=${perPage}&page=${page}`
    const entries = await askJson(world, 'emails', url, accessToken, headers)
    if (!Array.isArray(entries)) return refuse('emails_malformed')
    const primary: unknown = entries.find((entry) => isObject(entry) && entry.primary === true)
    if (isObject(primary)) return addressOf(primary)
    if (entries.length < perPage) break
  }
  return noAddress
}

const noAddress: Address = { email: null, emailVerified: false, authoritative: false }

function addressOf(primary: Readonly<Record<string, unknown>>): Address {
  const email = textOf(primary.email)
  // Mail to these addresses is not delivered, so an account could never be confirmed or recovered by one.
  if (email === null || /@users\.noreply\.github\.com$/i.test(email)) return noAddress
  const emailVerified = primary.verified === true
  return { email, emailVerified, authoritative: emailVerified }
}
