import { AuthError } from '../../errors.js'
import { isMailboxVisitor } from '../../http/mailbox-visitor.js'
import { html } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'

/** Mails bring their styles inline, and stand in frames of their own in which nothing runs. */
const mailboxPolicy =
  "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const mailboxRoute = defineRoute({
  method: 'GET',
  path: '/dev/mailbox',
  limit: 'other',
  body: null,
  summary: 'Shows the mails of the development mailbox to whoever holds the key that the console printed.',
  development: true,
  async handle({ mailbox, request, templates, settings, authPath }) {
    if (mailbox === null || !isMailboxVisitor(request, mailbox.key)) throw new AuthError('not_found')
    await templates.prepare()
    const samples = new URLSearchParams(request.query).has('samples')
    // The clock of the developer's own machine: these mails are read on it.
    const clock = new Intl.DateTimeFormat(settings.locale, { dateStyle: 'medium', timeStyle: 'medium' })
    const kept = mailbox.list().map((mail) => ({ ...mail, time: clock.format(new Date(mail.at)) }))
    const page = templates.page('mailbox', {
      mails: samples ? mailbox.samples().map((mail) => ({ ...mail, at: '', time: '' })) : kept,
      samples,
      address: `${authPath}/dev/mailbox?key=${mailbox.key}`,
      basePath: authPath,
    })
    return html(200, page, { headers: { 'content-security-policy': mailboxPolicy } })
  },
})
