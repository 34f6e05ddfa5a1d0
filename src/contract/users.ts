import { z } from 'zod'
import { auditEntrySchema } from './audit.js'
import {
  emailField,
  flagField,
  listField,
  nameField,
  optionalText,
  pageSchema,
  pagingQuery,
  statusSchema,
  time,
} from './fields.js'
import { defineOperations } from './operation.js'
import { sessionEntry } from './sessions.js'

export const userSchema = z
  .looseObject({
    id: z.string().describe('Unguessable, and never used again.'),
    email: z.string().describe('As the user typed it.'),
    emailVerified: z.boolean().describe('Whether the user has shown that the mailbox is theirs.'),
    name: z.string().nullable().describe('The name to show.'),
    roles: z.array(z.string()).describe('Roles that the application gave.'),
    twoFactor: z.boolean().describe('Whether two-factor authentication is on.'),
    createdAt: time('When the account was created.'),
    lastLoginAt: time('When the user last signed in.').nullable().describe('When the user last signed in, in UTC.'),
    identities: z
      .array(z.object({ provider: z.string(), linkedAt: time('When it was linked.') }))
      .describe('Linked logins at OAuth providers.'),
  })
  .describe('An account, with the extra fields of the application beside these.')

const accountSchema = userSchema
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

export const users = defineOperations({
  list: {
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
  },
  create: {
    method: 'POST',
    path: '/users',
    body: z.strictObject({
      email: emailField,
      name: nameField.nullable().optional(),
      roles: listField.optional(),
      invite: flagField.optional().describe('Mails a link that sets a password. Default: true.'),
    }),
    who: 'admin',
    recent: true,
    command: 'users create',
    summary: 'Creates an account, and invites its user by mail.',
    answers: { 201: accountSchema },
    errors: ['email_taken'],
  },
  read: {
    method: 'GET',
    path: '/users/:id',
    body: null,
    who: 'admin',
    command: 'users show',
    summary: 'Shows an account with its identities, sessions and last events.',
    answers: { 200: wholeAccountSchema },
    errors: ['not_found'],
  },
  update: {
    method: 'PATCH',
    path: '/users/:id',
    body: z.strictObject({
      name: nameField.nullable().optional(),
      roles: listField.optional().describe('The stored roles. ADMIN is computed and cannot be given.'),
    }),
    who: 'admin',
    summary: 'Sets the name or the roles of an account. Roles need a recent sign-in.',
    answers: { 200: accountSchema },
    errors: ['not_found'],
  },
  remove: {
    method: 'DELETE',
    path: '/users/:id',
    body: z.strictObject({ confirm: z.string().max(320).describe('The address of the account.') }),
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'users delete',
    summary: 'Deletes an account for good, with all its data.',
    answers: { 204: null },
    errors: ['not_found', 'would_lock_out'],
  },
  disable: {
    method: 'POST',
    path: '/users/:id/disable',
    body: z.strictObject({
      reason: z.string().min(1).max(200).describe('Why, in one line.'),
      until: optionalText.describe('ISO 8601. Default: until enabled.'),
    }),
    who: 'admin',
    recent: true,
    command: 'users disable',
    summary: 'Disables an account: its sessions, tokens and links end.',
    answers: { 200: accountSchema },
    errors: ['not_found', 'would_lock_out'],
  },
  enable: {
    method: 'POST',
    path: '/users/:id/enable',
    body: null,
    who: 'admin',
    recent: true,
    command: 'users enable',
    summary: 'Enables a disabled account.',
    answers: { 200: accountSchema },
    errors: ['not_found'],
  },
  resetPassword: {
    method: 'POST',
    path: '/users/:id/reset-password',
    body: null,
    who: 'admin',
    recent: true,
    command: 'users reset-password',
    summary: 'Ends every session of a user and demands a new password by a mailed link.',
    answers: { 202: statusSchema('reset_sent') },
    errors: ['not_found', 'would_lock_out'],
  },
  mailVerification: {
    method: 'POST',
    path: '/users/:id/verification',
    body: null,
    who: 'admin',
    recent: true,
    summary: 'Mails the confirmation of an address again; to a user without a password, the invitation.',
    answers: { 200: statusSchema('already_verified'), 202: statusSchema('verification_sent') },
    errors: ['not_found'],
  },
  removeTwoFactor: {
    method: 'DELETE',
    path: '/users/:id/two-factor',
    body: null,
    who: 'admin',
    recent: true,
    command: 'users remove-two-factor',
    summary: 'Removes the second factor of a user who has lost it. Ends every session and mails a notice.',
    answers: { 204: null },
    errors: ['not_found'],
  },
  impersonate: {
    method: 'POST',
    path: '/users/:id/impersonate',
    body: z.strictObject({
      reason: z.string().trim().min(10).max(500).describe('Why, for the audit log: 10 to 500 characters.'),
    }),
    home: 'application',
    who: 'admin',
    recent: true,
    summary: 'Opens a session as the user, which replaces the own one. Needs the setting admin.impersonation.',
    errors: ['not_found', 'impersonation_forbidden'],
  },
})
