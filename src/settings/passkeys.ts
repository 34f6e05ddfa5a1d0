import { isIP } from 'node:net'
import { z } from 'zod'
import { isSecureUrl, parseOrigin } from '../lib/url.js'
import { oneOrMore, orNull, shortText, text, wholeNumber } from './field.js'

export interface PasskeysInput {
  /** Sign-in by passkey. Default: true. Always off where `baseUrl` is an IP address. */
  enabled?: boolean | undefined
  /** The host that passkeys are made for: that of `baseUrl`, or a domain above it. Default: `cookies.domain`, or else the host of `baseUrl`. */
  rpId?: string | undefined
  /** The name that browsers show. Default: `brand.name`. */
  rpName?: string | undefined
  /**
   * The only origins that passkeys are used from, and `android:apk-key-hash:` of apps. Default: the origin of `baseUrl`, and those of
   * `trustedOrigins` that are `rpId` or below it.
   */
  origins?: string | readonly string[] | undefined
  /** How many a user may have. Default: 20. */
  max?: number | undefined
  /** Whether an account can be registered without a password. Default: false. */
  signUp?: boolean | undefined
  /** Whether a browser may make a passkey right after a sign-in by password, without a dialog. Default: true. */
  upgrade?: boolean | undefined
}

const host = text('must be a host such as example.com, without scheme and port', (value) => {
  const labels = value.toLowerCase().split('.')
  const sound = labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
  return sound && value.length <= 253 && isIP(value) === 0 ? value.toLowerCase() : null
})

/** An app is named by the SHA-256 of the certificate that signs it. */
const androidApp = /^android:apk-key-hash:[\w-]{43}$/

const origin = text(
  'must be an origin such as https://example.com (http on loopback), or android:apk-key-hash:… for an app',
  (value) => {
    if (androidApp.test(value)) return value
    const parsed = parseOrigin(value)
    return parsed !== null && isSecureUrl(new URL(parsed)) ? parsed : null
  },
)

export const passkeys = z.strictObject({
  enabled: z.boolean().default(true),
  rpId: orNull(host),
  rpName: orNull(shortText(64)),
  origins: orNull(oneOrMore('must be an origin or a list of them', origin)),
  max: wholeNumber(1, 100).default(20),
  signUp: z.boolean().default(false),
  upgrade: z.boolean().default(true),
})
