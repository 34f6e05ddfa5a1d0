import { z } from 'zod'
import { nameField } from '../../contract/fields.js'
import { listPasskeys, renamePasskey } from '../../flows/passkeys/list.js'
import { json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { toPasskeyEntry } from '../../model/factors/passkey-entry.js'
import { accountDone } from '../account-form.js'
import { onePasskeySchema, passkeysSchema } from './answer-schemas.js'

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
    return json(200, { passkeys: passkeys.map((passkey) => toPasskeyEntry(passkey, ports.policy.passkeys)), signals })
  },
})

export const renamePasskeyRoute = defineRoute({
  method: 'PATCH',
  path: '/passkeys/:id',
  limit: 'other',
  body: z.object({ name: nameField.refine((name) => name !== null, 'must not be empty') }),
  page: '/account',
  section: 'passkeys',
  signedIn: true,
  summary: 'Gives a passkey another name.',
  answers: { 200: onePasskeySchema },
  errors: ['not_found', 'passkeys_disabled'],
  async handle(context, { name }) {
    const { ports, session, params } = context
    const { principal, visitor } = await session()
    const passkey = await renamePasskey(ports, principal, { id: params.id ?? '', name: name ?? '', visitor })
    return context.form
      ? accountDone(context, 'passkeys', 'passkey_renamed')
      : json(200, { passkey: toPasskeyEntry(passkey, ports.policy.passkeys) })
  },
})
