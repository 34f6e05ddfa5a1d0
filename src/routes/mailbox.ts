import { AuthError } from '../errors.js'
import { isMailboxVisitor } from '../http/mailbox-visitor.js'
import { html } from '../http/problem.js'
import { defineRoute } from '../http/route.js'

export const mailboxRoute = defineRoute({
  method: 'GET',
  path: '/dev/mailbox',
  limit: 'other',
  body: null,
  summary: 'Shows the mails of the development mailbox to whoever holds the key that the console printed.',
  development: true,
  async handle({ mailbox, request, templates }) {
    if (mailbox === null || !isMailboxVisitor(request, mailbox.key)) throw new AuthError('not_found')
    return html(200, templates.page('mailbox', { mails: mailbox.list() }))
  },
})
