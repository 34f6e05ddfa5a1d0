import { z } from 'zod'
import { confirmField, flagField, listField, optionalText, time } from './fields.js'
import { defineOperations } from './operation.js'

const keySchema = z.object({ kid: z.string().nullable(), alg: z.string().nullable(), use: z.string().nullable() })

const faultSchema = z.enum(['not_allowed', 'unreachable', 'redirected', 'too_large', 'not_a_key_set'])

const checkSchema = z.object({
  ok: z.boolean(),
  keys: z.array(keySchema).describe('The usable keys.'),
  fault: faultSchema.nullable().describe('Why the set cannot be used.'),
})

const accessSchema = z.object({
  jwksUrl: z.string().nullable().describe('The key set in force; null: no tokens of another issuer.'),
  fixedJwksUrl: z.string().nullable().describe('The one of the settings.'),
  jwksRules: z
    .object({
      issuer: z.string().nullable(),
      audience: z.array(z.string()),
      algorithms: z.array(z.string()),
      exclusive: z.boolean(),
    })
    .optional()
    .describe('In the space host: what the tokens must fulfil.'),
  allowList: z
    .object({ fixed: z.array(z.string()), added: z.array(z.string()) })
    .describe('Addresses and networks that may use the API, from the settings and added later; none: all may.'),
  you: z.object({ ip: z.string().nullable(), allowed: z.boolean() }).describe('The address of this request.'),
  keySet: z
    .object({ ...checkSchema.shape, fetchedAt: time('When it was last read.').nullable() })
    .nullable()
    .describe('The state of the key set in force.'),
})

const networkField = z.string().max(64).describe('An IP address or a CIDR.')

const networkBody = z.strictObject({
  network: networkField,
  force: flagField.optional().describe('Excludes the own address; confirm repeats it.'),
  confirm: confirmField.describe('`everyone` to remove the last entry; with force, the own address.'),
})

/** A form sends an empty field for a list that is left out. */
function unlessEmpty(list: string[] | undefined): string[] | undefined {
  return list?.length === 0 ? undefined : list
}

export const access = defineOperations({
  read: {
    method: 'GET',
    path: '/access',
    body: null,
    home: 'space',
    who: 'member',
    command: 'info',
    summary: 'Shows the allow-list and the key set in force.',
    answers: { 200: accessSchema },
  },
  setKeySet: {
    method: 'POST',
    path: '/access/jwks',
    body: z.strictObject({ url: z.string().max(2048).nullable().describe('null: the one of the settings.') }),
    home: 'application',
    who: 'admin',
    recent: true,
    command: 'jwks',
    summary: 'Sets the URL of the key set for tokens of another issuer.',
    answers: { 200: accessSchema },
  },
  setSpaceKeySet: {
    method: 'POST',
    path: '/access/jwks',
    body: z.strictObject({
      url: z.string().max(2048).nullable().describe('null: no key set.'),
      issuer: optionalText.describe('What `iss` must be.'),
      audience: listField.optional().transform(unlessEmpty).describe('`aud` must name one of these.'),
      algorithms: listField
        .optional()
        .transform(unlessEmpty)
        .describe('Accepted signature algorithms. Default: RS256.'),
      exclusive: flagField.optional().describe('No other credential counts.'),
    }),
    home: 'space',
    who: 'admin',
    recent: true,
    command: 'jwks',
    summary: 'Sets the key set for tokens of another issuer, and the rules for its tokens.',
    answers: { 200: accessSchema },
  },
  checkKeySet: {
    method: 'POST',
    path: '/access/jwks/check',
    body: z.strictObject({ url: z.string().max(2048) }),
    home: 'space',
    who: 'admin',
    command: 'jwks',
    summary: 'Fetches a key set and shows its keys. Stores nothing.',
    answers: { 200: checkSchema },
  },
  allow: {
    method: 'POST',
    path: '/access/networks',
    body: networkBody,
    home: 'space',
    who: 'admin',
    recent: true,
    confirm: 'with force',
    command: 'whitelist',
    summary: 'Adds an address or network to the allow-list. The first entry excludes all others.',
    answers: { 200: accessSchema },
    errors: ['would_lock_out'],
  },
  disallow: {
    method: 'DELETE',
    path: '/access/networks',
    body: networkBody,
    home: 'space',
    who: 'admin',
    recent: true,
    confirm: 'for the last entry, or with force',
    command: 'whitelist-remove',
    summary: 'Removes an entry from the allow-list. The last one needs confirm: "everyone".',
    answers: { 204: null },
    errors: ['not_found', 'would_lock_out'],
  },
})
