import { z } from 'zod'
import { allowNetworkSafely, disallowNetworkSafely, readAccess } from '../../flows/control/access-settings.js'
import { changeJwksUrl, changeKeySet, checkKeySetUrl } from '../../flows/control/key-set.js'
import { empty, json } from '../../http/problem.js'
import { createAllowRule } from '../../lib/ip-ranges.js'
import { time } from '../answer-schemas.js'
import { type ControlContext, defineControlRoute } from './control-route.js'
import { confirmField, flagField, listField, optionalText } from './fields.js'
import { showKeySetCheck } from './pages/jwks.js'

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

export const readAccessRoute = defineControlRoute({
  method: 'GET',
  path: '/access',
  body: null,
  home: 'space',
  who: 'member',
  command: 'info',
  summary: 'Shows the allow-list and the key set in force.',
  answers: { 200: accessSchema },
  handle: async (context) => json(200, await viewOf(context)),
})

export const changeJwksRoute = defineControlRoute({
  method: 'POST',
  path: '/access/jwks',
  body: z.strictObject({ url: z.string().max(2048).nullable().describe('null: the one of the settings.') }),
  form: { page: '/jwks', section: 'jwks', done: 'jwks_changed', keeps: ['url'] },
  home: 'application',
  who: 'admin',
  recent: true,
  command: 'jwks',
  summary: 'Sets the URL of the key set for tokens of another issuer.',
  answers: { 200: accessSchema },
  async handle(context, { url }) {
    const { ports, admin } = context
    await changeJwksUrl(ports, { url: url === '' ? null : url, visitor: admin.visitor })
    return json(200, await viewOf(context))
  },
})

/** In the host. A space has no settings, so the rules come with the URL. */
export const changeSpaceJwksRoute = defineControlRoute({
  method: 'POST',
  path: '/access/jwks',
  body: z.strictObject({
    url: z.string().max(2048).nullable().describe('null: no key set.'),
    issuer: optionalText.describe('What `iss` must be.'),
    audience: listField.optional().transform(unlessEmpty).describe('`aud` must name one of these.'),
    algorithms: listField.optional().transform(unlessEmpty).describe('Accepted signature algorithms. Default: RS256.'),
    exclusive: flagField.optional().describe('No other credential counts.'),
  }),
  form: { page: '/jwks', section: 'jwks', done: 'jwks_changed', keeps: ['url', 'issuer', 'audience', 'algorithms'] },
  home: 'space',
  who: 'admin',
  recent: true,
  command: 'jwks',
  summary: 'Sets the key set for tokens of another issuer, and the rules for its tokens.',
  answers: { 200: accessSchema },
  async handle(context, { url, ...rules }) {
    const { ports, admin } = context
    await changeKeySet(ports, { change: { ...rules, url: url === '' ? null : url }, visitor: admin.visitor })
    return json(200, await viewOf(context))
  },
})

/** A form sends an empty field for a list that is left out. */
function unlessEmpty(list: string[] | undefined): string[] | undefined {
  return list?.length === 0 ? undefined : list
}

export const checkJwksRoute = defineControlRoute({
  method: 'POST',
  path: '/access/jwks/check',
  body: z.strictObject({ url: z.string().max(2048) }),
  form: { page: '/jwks', section: 'check', keeps: ['url'], ownAnswer: true },
  home: 'space',
  who: 'admin',
  command: 'jwks',
  summary: 'Fetches a key set and shows its keys. Stores nothing.',
  answers: { 200: checkSchema },
  async handle(context, { url }) {
    const found = await checkKeySetUrl(context.ports, { url, userId: context.admin.principal.userId })
    return context.asPage ? showKeySetCheck(context, found, url) : json(200, found)
  },
})

export const allowNetworkRoute = defineControlRoute({
  method: 'POST',
  path: '/access/networks',
  body: networkBody,
  form: { page: '/access', section: 'networks', done: 'network_added', keeps: ['network'] },
  home: 'space',
  who: 'admin',
  recent: true,
  confirm: 'with force',
  command: 'whitelist',
  summary: 'Adds an address or network to the allow-list. The first entry excludes all others.',
  answers: { 200: accessSchema },
  errors: ['would_lock_out'],
  async handle(context, change) {
    await allowNetworkSafely(context.ports, { ...change, visitor: context.admin.visitor })
    return json(200, await viewOf(context))
  },
})

export const disallowNetworkRoute = defineControlRoute({
  method: 'DELETE',
  path: '/access/networks',
  body: networkBody,
  form: { page: '/access', section: 'networks', done: 'network_removed' },
  home: 'space',
  who: 'admin',
  recent: true,
  confirm: 'for the last entry, or with force',
  command: 'whitelist-remove',
  summary: 'Removes an entry from the allow-list. The last one needs confirm: "everyone".',
  answers: { 204: null },
  errors: ['not_found', 'would_lock_out'],
  async handle({ ports, admin }, change) {
    await disallowNetworkSafely(ports, { ...change, visitor: admin.visitor })
    return empty(204)
  },
})

async function viewOf({ ports, admin }: ControlContext) {
  const view = await readAccess(ports)
  const { fixed, added } = view.allowList
  const networks = [...fixed, ...added]
  const { ip } = admin.visitor
  return {
    ...view,
    you: { ip, allowed: createAllowRule(networks, ports.policy.access)(ip) },
    keySet: ports.keySets.inForce(),
  }
}
