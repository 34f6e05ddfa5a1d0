import { z } from 'zod'
import { hasMethods, memberOf } from '../lib/members.js'
import { isSecureUrl, parseHttpUrl } from '../lib/url.js'
import { duration, either, foreign, oneOrMore, orNull, shortText, text, wholeNumber } from './field.js'
import { secrets } from './secrets.js'

/** The part of the Standard Schema interface (standardschema.dev, v1) that we call. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): StandardResult | Promise<StandardResult>
  }
}

export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined
      }[]
    }

const confirmation = z.enum(['required', 'optional'])

export const registration = z.strictObject({
  enabled: z.boolean().default(true),
  emailVerification: confirmation.default('required'),
  fields: orNull(foreign<StandardSchema>('must be a Standard Schema (zod, valibot, arktype, …)', isStandardSchema)),
})

const publicRangeApi = 'https://api.pwnedpasswords.com/range/'
const rangeApi = text('must be true, false or the https URL of a range API, without query', (value) => {
  const url = parseHttpUrl(value)
  if (url === null || !isSecureUrl(url) || /[?#]/.test(value)) return null
  return value.endsWith('/') ? value : `${value}/`
})
const rangeApiSwitch = z
  .boolean({ error: 'must be true, false or the https URL of a range API' })
  .transform((on) => (on ? publicRangeApi : false))

export const password = z.strictObject({
  minLength: wholeNumber(8, 64).default(10),
  checkBreached: either<boolean | string, string | false>((value) =>
    typeof value === 'string' ? rangeApi : rangeApiSwitch,
  ).prefault(true),
  algorithm: z.enum(['bcrypt', 'argon2id']).default('bcrypt'),
  cost: wholeNumber(4, 31).default(12),
  pepper: orNull(secrets),
})

export const otp = z.strictObject({
  enabled: z.boolean().default(true),
  length: wholeNumber(6, 8).default(6),
  lifetime: duration('1m', '30m').prefault('10m'),
  tries: wholeNumber(1, 10).default(5),
  mail: z.enum(['both', 'code', 'link']).default('both'),
})

/** An otpauth URI ends the issuer at its first colon. */
const issuer = text('must be a text of 1 to 64 characters without a colon', (value) =>
  /^[^:\p{Cc}]{1,64}$/u.test(value) && value.trim() === value ? value : null,
)
const roles = oneOrMore('must be true, false or a list of roles', shortText(64))

export const twoFactor = z.strictObject({
  issuer: orNull(issuer),
  required: either<boolean | string | readonly string[], boolean | string[]>((value) =>
    typeof value === 'boolean' ? z.boolean() : roles,
  ).prefault(false),
})

function isStandardSchema(value: unknown): boolean {
  const standard = memberOf(value, '~standard')
  return memberOf(standard, 'version') === 1 && hasMethods(standard, ['validate'])
}
