import { z } from 'zod'
import { isSecureUrl, parseHttpUrl } from '../lib/url.js'
import { sentenceOf, text } from './field.js'
import { isUnexpanded } from './secrets.js'

/** The settings that every OAuth provider has. */
export interface ClientSettings {
  clientId: string
  /** Sent to the provider unchanged. Its path is the callback route. */
  redirectUri: string
}

/** An OAuth provider of the settings. Only the file of its kind in `oauth/` reads the settings that other kinds lack. */
export interface ProviderSettings extends ClientSettings {
  /** The kind that parsed these settings and that connects to the provider. */
  kind: string
  /** As in addresses: `/oauth/<name>`. */
  name: string
}

/** The part of a kind of OAuth provider that the settings need. */
export interface ProviderSchema<Own extends ClientSettings = ClientSettings, Input = unknown> {
  kind: string
  schema: z.ZodType<Own, Input>
}

/** The kinds of OAuth providers. `settings` does not know them; its caller passes them in. */
export interface ProviderKinds<Kind extends ProviderSchema = ProviderSchema> {
  google: Kind
  github: Kind
  /** Kinds that have a fixed name below `oauth`. */
  further: Readonly<Record<string, Kind>>
  /** Reads every other name in `oauth`. */
  other: Kind
}

const credential = text('must not be empty, blank or a placeholder', (value) =>
  value === '' || value !== value.trim() || /\p{Cc}/u.test(value) || isUnexpanded(value) ? null : value,
)

const redirectUri = text(
  'must be the full https address (http on loopback) of the callback route, without query and fragment',
  withoutQuery,
)

/** The URL of the provider's server. Over plain http, anyone on the network could forge its responses. */
export const serverUrl = text(
  'must be an https URL (http on loopback only) without query, fragment and password',
  withoutQuery,
)

const registered = { CLIENT_ID: credential, REDIRECT_URI: redirectUri }
const secret = { CLIENT_SECRET: credential }
const trust = { trustEmail: z.boolean().default(false) }

/** Settings for a provider that is known to report which addresses are verified. */
export const secretClient = z.strictObject({ ...registered, ...secret })

/** Settings for a provider whose addresses count as verified only with `trustEmail`. */
export const judgedClient = z.strictObject({ ...registered, ...secret, ...trust })

/** The same without a client secret, because the provider needs another proof. */
export const judgedClientWithoutSecret = z.strictObject({ ...registered, ...trust })

/** The common settings, by the names that our code uses. */
export function clientOf({ CLIENT_ID, REDIRECT_URI }: { CLIENT_ID: string; REDIRECT_URI: string }): ClientSettings {
  return { clientId: CLIENT_ID, redirectUri: REDIRECT_URI }
}

/** The same with the client secret. */
export function secretClientOf({ CLIENT_SECRET, ...given }: z.output<typeof secretClient>) {
  return { ...clientOf(given), clientSecret: CLIENT_SECRET }
}

/** Reads the settings of one provider. Its schema cannot name another kind or provider. */
export function providerOf({ kind, schema }: ProviderSchema, name: string) {
  return schema.transform((own): ProviderSettings => ({ ...own, kind, name }))
}

const nameFault =
  'must be lower-case letters, digits and hyphens, and not google or github, which are settings of their own'

/** Reads the providers below `oauth`, and reports every fault of each. */
export function furtherProviders({ further, other }: ProviderKinds) {
  return z
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
        const known = Object.hasOwn(further, name) ? further[name] : undefined
        const result = providerOf(known ?? other, name).safeParse(entry, { error: sentenceOf })
        if (result.success) found.push(result.data)
        else for (const issue of result.error.issues) context.addIssue({ ...issue, path: [name, ...issue.path] })
      }
      return found
    })
}

function withoutQuery(value: string): string | null {
  const url = parseHttpUrl(value)
  return url !== null && isSecureUrl(url) && !/[?#]/.test(value) ? value : null
}
