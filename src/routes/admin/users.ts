import { z } from 'zod'
import { updateAccount } from '../../flows/control/administer-accounts.js'
import { listAccounts } from '../../flows/control/find-accounts.js'
import { addAccount } from '../../flows/control/invite-account.js'
import { readWholeAccount } from '../../flows/control/read-account.js'
import { removeConfirmedAccount } from '../../flows/control/remove-account.js'
import type { HttpRequest } from '../../http/message.js'
import { empty, json } from '../../http/problem.js'
import { type AccountFilter, accountStates } from '../../model/account.js'
import { time, userSchema } from '../answer-schemas.js'
import { emailField, nameField } from '../fields.js'
import { auditEntrySchema } from './audit.js'
import { defineControlRoute } from './control-route.js'
import { flagField, listField, pageSchema, paging, pagingQuery, queryChoice, queryFields } from './fields.js'
import { sessionEntry } from './sessions.js'

export const accountSchema = userSchema
  .extend({
    disabledAt: time('Since when it is disabled.').nullable(),
    disabledUntil: time('Until when it is disabled.').nullable(),
    disabledReason: z.string().nullable().describe('Why it is disabled, in the words of the administrator.'),
  })
  .describe('An account as administrators see it.')

const wholeAccountSchema = z
  .object({
    account: accountSchema,
    identities: z.array(z.object({ provider: z.string(), linkedAt: time('When it was linked.') })),
    sessions: z.array(z.looseObject(sessionEntry)),
    events: z.array(auditEntrySchema).describe('The last 50 audit events about it.'),
  })
  .describe('An account with everything that administrators see of it.')

export const listUsersRoute = defineControlRoute({
  method: 'GET',
  path: '/users',
  body: null,
  who: 'admin',
  command: 'users',
  summary: 'Lists accounts, newest first.',
  query: {
    query: 'A part of the address or the name, or a whole address.',
    role: 'Accounts with this role.',
    state: '`active`, `disabled` or `unverified`.',
    ...pagingQuery,
  },
  answers: { 200: pageSchema(accountSchema) },
  async handle({ ports, request }) {
    return json(
      200,
      await listAccounts(ports, {
        ...queryFields(request, ['query', 'role']),
        ...stateOf(request),
        ...paging(request),
      }),
    )
  },
})

export const createUserRoute = defineControlRoute({
  method: 'POST',
  path: '/users',
  body: z.strictObject({
    email: emailField,
    name: nameField.nullable().optional(),
    roles: listField.optional(),
    invite: flagField.optional().describe('Mails a link that sets a password. Default: true.'),
  }),
  form: { page: '/users', section: 'create', done: 'user_created' },
  who: 'admin',
  recent: true,
  command: 'users create',
  summary: 'Creates an account, and invites its user by mail.',
  answers: { 201: accountSchema },
  errors: ['email_taken'],
  async handle({ ports, admin }, { invite = true, ...account }) {
    return json(201, await addAccount(ports, { invite, account, visitor: admin.visitor }))
  },
})

export const readUserRoute = defineControlRoute({
  method: 'GET',
  path: '/users/:id',
  body: null,
  who: 'admin',
  command: 'users show',
  summary: 'Shows an account with its identities, sessions and last events.',
  answers: { 200: wholeAccountSchema },
  errors: ['not_found'],
  handle: async ({ ports, params }) => json(200, await readWholeAccount(ports, params.id ?? '')),
})

export const updateUserRoute = defineControlRoute({
  method: 'PATCH',
  path: '/users/:id',
  body: z.strictObject({
    name: nameField.nullable().optional(),
    roles: listField.optional().describe('The stored roles. ADMIN is computed and cannot be given.'),
  }),
  form: { page: '/users/:id', section: 'profile', done: 'user_updated' },
  who: 'admin',
  needsRecent: ({ roles }) => roles !== undefined,
  summary: 'Sets the name or the roles of an account. Roles need a recent sign-in.',
  answers: { 200: accountSchema },
  errors: ['not_found'],
  async handle({ ports, params, admin }, { name, roles }) {
    const changes = { ...(name !== undefined && { name }), ...(roles !== undefined && { roles }) }
    return json(200, await updateAccount(ports, { id: params.id ?? '', changes, visitor: admin.visitor }))
  },
})

export const deleteUserRoute = defineControlRoute({
  method: 'DELETE',
  path: '/users/:id',
  body: z.strictObject({ confirm: z.string().max(320).describe('The address of the account.') }),
  form: { page: '/users/:id', section: 'delete', done: 'user_deleted', donePage: { page: '/users', section: 'users' } },
  who: 'admin',
  recent: true,
  confirm: true,
  command: 'users delete',
  summary: 'Deletes an account for good, with all its data.',
  answers: { 204: null },
  errors: ['not_found', 'would_lock_out'],
  async handle({ ports, params, admin }, { confirm }) {
    await removeConfirmedAccount(ports, { id: params.id ?? '', confirm, visitor: admin.visitor })
    return empty(204)
  },
})

function stateOf(request: Pick<HttpRequest, 'query'>): Pick<AccountFilter, 'state'> {
  const state = queryChoice(request, 'state', accountStates)
  return state === undefined ? {} : { state }
}
