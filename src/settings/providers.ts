import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import { isSecureUrl, parseHttpUrl } from '../lib/url.js'
import { orNull, sentenceOf, shortText, text } from './field.js'
import { isUnexpanded } from './secrets.js'

/** What every OAuth provider has, whatever else it needs. */
interface Registered {
  /** As in addresses: `/oauth/<name>`. */
  name: string
  clientId: string
  /** Sent letter for letter; its path is the callback route. */
  redirectUri: string
}

/** What the owner may say about those that are not Google or GitHub. */
interface Judged extends Registered {
  /** Its word about an address suffices to let its users into the accounts of that address. */
  trustEmail: boolean
}

interface WithSecret {
  clientSecret: string
}

/** Signs what stands in for a client secret. */
export interface AppleKey {
  teamId: string
  keyId: string
  /** PKCS#8 in PEM, of the curve P-256. */
  privateKey: string
}

export interface PlainProvider<Kind = 'google' | 'github'> extends Registered, WithSecret {
  kind: Kind
}

export interface DiscordProvider extends Judged, WithSecret {
  kind: 'discord'
}

export interface MicrosoftProvider extends Judged, WithSecret {
  kind: 'microsoft'
  /** `common`, `organizations`, `consumers`, or the id of one directory, lower case. */
  tenant: string
}

export interface AppleProvider extends Judged, AppleKey {
  kind: 'apple'
}

export interface GitlabProvider extends Judged, WithSecret {
  kind: 'gitlab'
  /** Where that GitLab stands, without a slash at the end. */
  baseUrl: string
}

export interface OpenIdProvider extends Judged, WithSecret {
  kind: 'openid'
  /** Compared letter for letter with what the provider calls itself. */
  issuer: string
  scopes: readonly string[]
  /** As people know it. */
  label: string
}

/** An OAuth provider of the settings; `kind` says which file of ours speaks to it. */
export type ProviderSettings =
  | PlainProvider<'google'>
  | PlainProvider<'github'>
  | DiscordProvider
  | MicrosoftProvider
  | AppleProvider
  | GitlabProvider
  | OpenIdProvider

const credential = text('must not be empty, blank or a placeholder', (value) =>
  value === '' || value !== value.trim() || /\p{Cc}/u.test(value) || isUnexpanded(value) ? null : value,
)

const redirectUri = text(
  'must be the full https address (http on loopback) of the callback route, without query and fragment',
  (value) => {
    const url = parseHttpUrl(value)
    return url !== null && isSecureUrl(url) && !/[?#]/.test(value) ? value : null
  },
)

/** The address of somebody else's server: with http, anybody on the way could say who has signed in. */
const serverUrl = text('must be an https URL (http on loopback only) without query, fragment and password', (value) => {
  const url = parseHttpUrl(value)
  return url !== null && isSecureUrl(url) && !/[?#]/.test(value) ? value : null
})

/** A domain name will not do: tokens name the directory by its id, and nothing else is there to compare. */
const tenant = text('must be common, organizations, consumers or the id of a directory (a GUID)', (value) =>
  /^(?:common|organizations|consumers|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(value.toLowerCase())
    ? value.toLowerCase()
    : null,
)

/** Ten letters and digits: anything else was pasted into the wrong place. */
const appleId = text('must be 10 letters and digits', (value) => (/^[A-Z0-9]{10}$/.test(value) ? value : null))

const privateKey = text('must be the .p8 file of Apple as it is: a PKCS#8 key in PEM, of the curve P-256', (value) => {
  // Files of environment variables have a line break as two characters.
  const pem = value.replaceAll('\\n', '\n')
  return isP256Key(pem) ? pem : null
})

/** RFC 6749 §3.3. */
const scope = text('must be a scope: printable, without blanks, quotes and backslashes', (value) =>
  /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/.test(value) ? value : null,
)

const registered = { CLIENT_ID: credential, REDIRECT_URI: redirectUri }
const withSecret = { ...registered, CLIENT_SECRET: credential }
const judged = { trustEmail: z.boolean().default(false) }

/** Google and GitHub, which are settings of their own: whose word about an address counts is known of them. */
export function plainProvider(kind: PlainProvider['kind']) {
  return z
    .strictObject(withSecret)
    .transform((given): PlainProvider => ({ kind, name: kind, ...basics(given), clientSecret: given.CLIENT_SECRET }))
}

/** How the entry of each name is read; a name that does not stand here is an OpenID issuer. */
const known: Readonly<Record<string, (name: string) => z.ZodType<ProviderSettings>>> = {
  discord: (name) =>
    z
      .strictObject({ ...withSecret, ...judged })
      .transform((given) => ({ kind: 'discord', name, ...basics(given), ...secretOf(given) })),
  microsoft: (name) =>
    z.strictObject({ ...withSecret, ...judged, TENANT: tenant.prefault('common') }).transform((given) => ({
      kind: 'microsoft',
      name,
      ...basics(given),
      ...secretOf(given),
      tenant: given.TENANT,
    })),
  apple: (name) =>
    z
      .strictObject({ ...registered, ...judged, TEAM_ID: appleId, KEY_ID: appleId, PRIVATE_KEY: privateKey })
      .transform((given) => ({
        kind: 'apple',
        name,
        ...basics(given),
        trustEmail: given.trustEmail,
        teamId: given.TEAM_ID,
        keyId: given.KEY_ID,
        privateKey: given.PRIVATE_KEY,
      })),
  gitlab: (name) =>
    z
      .strictObject({ ...withSecret, ...judged, BASE_URL: serverUrl.prefault('https://gitlab.com') })
      .transform((given) => ({
        kind: 'gitlab',
        name,
        ...basics(given),
        ...secretOf(given),
        baseUrl: given.BASE_URL.replace(/\/$/, ''),
      })),
}

function openIdIssuer(name: string): z.ZodType<ProviderSettings> {
  return z
    .strictObject({
      ...withSecret,
      ...judged,
      ISSUER: serverUrl,
      SCOPES: orNull(z.array(scope)),
      LABEL: orNull(shortText(40)),
    })
    .transform((given) => ({
      kind: 'openid',
      name,
      ...basics(given),
      ...secretOf(given),
      issuer: given.ISSUER,
      // Without this one it is not OpenID Connect, and there is no id_token (Core §3.1.2.1).
      scopes: [...new Set(['openid', ...(given.SCOPES ?? ['email', 'profile'])])],
      label: given.LABEL ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    }))
}

const nameFault =
  'must be lower-case letters, digits and hyphens, and not google or github, which are settings of their own'

/** Further providers by name, every fault of each told. */
export const furtherProviders = z
  .custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'must be an object' },
  )
  .transform((entries, context) => {
    const found: ProviderSettings[] = []
    for (const [name, entry] of Object.entries(entries)) {
      if (!/^(?!(?:google|github)$)[a-z][a-z0-9-]{0,31}$/.test(name)) {
        context.addIssue({ code: 'custom', path: [name], message: nameFault })
        continue
      }
      const reader = Object.hasOwn(known, name) ? known[name] : undefined
      const result = (reader ?? openIdIssuer)(name).safeParse(entry, { error: sentenceOf })
      if (result.success) found.push(result.data)
      else for (const issue of result.error.issues) context.addIssue({ ...issue, path: [name, ...issue.path] })
    }
    return found
  })

function basics({ CLIENT_ID, REDIRECT_URI }: { CLIENT_ID: string; REDIRECT_URI: string }) {
  return { clientId: CLIENT_ID, redirectUri: REDIRECT_URI }
}

function secretOf({ CLIENT_SECRET, trustEmail }: { CLIENT_SECRET: string; trustEmail: boolean }) {
  return { clientSecret: CLIENT_SECRET, trustEmail }
}

function isP256Key(pem: string): boolean {
  if (!/^\s*-----BEGIN PRIVATE KEY-----/.test(pem)) return false
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}
