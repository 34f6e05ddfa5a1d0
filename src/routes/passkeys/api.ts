import { z } from 'zod'
import { listPasskeys, renamePasskey } from '../../flows/passkeys/list.js'
import { addPasskey, startPasskey } from '../../flows/passkeys/register.js'
import { removePasskey } from '../../flows/passkeys/remove.js'
import { empty, json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { toPasskeyEntry } from '../../model/passkey-entry.js'
import { accountDone } from '../account-form.js'
import { sessionSchema } from '../answer-schemas.js'
import { nameField, passwordBody } from '../fields.js'
import { issuedAnswer } from '../session/answer.js'
import { sessionCookies } from '../session/cookies.js'
import { creationOptionsSchema, onePasskeySchema, passkeysSchema } from './answer-schemas.js'
import { creationResponse } from './response-schema.js'

const form = { page: '/account', section: 'passkeys', signedIn: true } as const

export const startPasskeyRoute = defineRoute({
  method: 'POST',
  path: '/passkeys/options',
  limit: 'login',
  body: z.object({
    ...passwordBody.shape,
    upgrade: z
      .literal(true)
      .optional()
      .describe('The browser makes the passkey without a dialog, at most five minutes after a sign-in by password.'),
  }),
  ...form,
  summary: 'Returns the options of a new passkey. Needs the password or a recent sign-in, and the second factor.',
  answers: { 200: creationOptionsSchema },
  errors: ['invalid_credentials', 'recent_login_required', 'passkey_limit', 'passkeys_disabled', 'busy'],
  async handle({ ports, session, cookies }, { password, upgrade = false }) {
    const { principal, visitor } = await session()
    const input = { password: password || null, upgrade, visitor, device: cookies.device }
    return json(200, { options: await startPasskey(ports, principal, input) })
  },
})

export const addPasskeyRoute = defineRoute({
  method: 'POST',
  path: '/passkeys',
  limit: 'login',
  body: z.object({ response: creationResponse, name: nameField.optional() }),
  ...form,
  summary: 'Adds a passkey by the options that this session asked for.',
  answers: { 201: onePasskeySchema },
  errors: ['invalid_token', 'invalid_passkey', 'passkey_taken', 'passkey_limit', 'passkeys_disabled'],
  async handle({ ports, session }, { response, name = null }) {
    const { principal, visitor } = await session()
    const passkey = await addPasskey(ports, principal, { response, name, visitor })
    return json(201, { passkey: toPasskeyEntry(passkey) })
  },
})

export const listPasskeysRoute = defineRoute({
  method: 'GET',
  path: '/passkeys',
  limit: 'other',
  body: null,
  signedIn: true,
  summary: 'Lists the passkeys of the signed-in user, and what a page tells the browser about them.',
  answers: { 200: passkeysSchema },
  errors: ['passkeys_disabled'],
  async handle({ ports, session }) {
    const { principal } = await session()
    const { passkeys, signals } = await listPasskeys(ports, principal)
    return json(200, { passkeys: passkeys.map(toPasskeyEntry), signals })
  },
})

export const renamePasskeyRoute = defineRoute({
  method: 'PATCH',
  path: '/passkeys/:id',
  limit: 'other',
  body: z.object({ name: nameField.refine((name) => name !== null, 'must not be empty') }),
  ...form,
  summary: 'Gives a passkey another name.',
  answers: { 200: onePasskeySchema },
  errors: ['not_found', 'passkeys_disabled'],
  async handle(context, { name }) {
    const { ports, session, params } = context
    const { principal, visitor } = await session()
    const passkey = await renamePasskey(ports, principal, { id: params.id ?? '', name: name ?? '', visitor })
    return context.form
      ? accountDone(context, 'passkeys', 'passkey_renamed')
      : json(200, { passkey: toPasskeyEntry(passkey) })
  },
})

export const removePasskeyRoute = defineRoute({
  method: 'DELETE',
  path: '/passkeys/:id',
  limit: 'login',
  body: passwordBody,
  ...form,
  summary: 'Removes a passkey. Every session ends, and a new one begins.',
  answers: { 200: sessionSchema, 204: null },
  errors: ['invalid_credentials', 'recent_login_required', 'not_found', 'last_credential', 'busy'],
  async handle(context, { password }) {
    const { ports, session, mode, cookies, params } = context
    const { principal, visitor } = await session()
    const input = { id: params.id ?? '', password: password || null, mode, visitor, device: cookies.device }
    const issued = await removePasskey(ports, principal, input)
    // An app without cookies needs the new tokens, which a 204 cannot carry.
    if (mode === 'token') return issuedAnswer(context, 200, issued)
    const kept = { 'set-cookie': sessionCookies(context, issued) }
    return context.form ? accountDone(context, 'passkeys', 'passkey_removed', kept) : empty(204, kept)
  },
})
