import { AuthError } from '../../errors.js'
import { isMailboxVisitor } from '../../http/mailbox-visitor.js'
import { html } from '../../http/problem.js'
import { queryOf } from '../../http/query.js'
import { defineRoute } from '../../http/route.js'

/** Our script refreshes the list. Mails have inline styles and are shown in sandboxed frames, in which no script runs. */
const mailboxPolicy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const mailboxRoute = defineRoute({
  method: 'GET',
  path: '/dev/mailbox',
  limit: 'other',
  body: null,
  summary: 'Shows the development mailbox. Needs the key that the console printed.',
  development: true,
  async handle({ mailbox, request, templates, settings, authPath }) {
    if (mailbox === null || !isMailboxVisitor(request, mailbox.key)) throw new AuthError('not_found')
    await templates.prepare()
    const given = queryOf(request)
    const samples = given.has('samples')
    // In the time zone of this machine, which is the developer's.
    const clock = new Intl.DateTimeFormat(settings.locale, { dateStyle: 'medium', timeStyle: 'medium' })
    const kept = mailbox.list().map((mail) => ({
      ...mail,
      time: clock.format(new Date(mail.at)),
      ...('purpose' in mail && { minutes: String(Math.ceil(mail.retryAfter / 60)) }),
    }))
    const page = templates.page('mailbox', {
      ...selected(samples ? mailbox.samples().map((mail) => ({ ...mail, at: '', time: '' })) : kept, given.get('mail')),
      samples,
      address: `${authPath}/dev/mailbox?key=${mailbox.key}`,
      basePath: authPath,
    })
    return html(200, page, { headers: { 'content-security-policy': mailboxPolicy } })
  },
})

/** The list and the open mail: the chosen one, or else the first. A phone shows a mail only once it is chosen. */
function selected<Mail extends { to: string; at: string; time: string; subject?: string }>(
  mails: readonly Mail[],
  id: string | null,
) {
  const listed = mails.map((mail, index) => ({ ...mail, id: idOf(mails, index) }))
  const found = listed.find((mail) => mail.id === id)
  const mail = found ?? listed[0] ?? null
  return {
    chosen: found !== undefined,
    mail,
    mails: listed.map(({ id, to, subject = '', at, time }) => ({
      id,
      to,
      subject,
      at,
      time,
      current: id === mail?.id,
    })),
  }
}

/** An id that does not change when the list does: the time of the mail, and its number among the mails of that time. */
function idOf(mails: readonly { at: string }[], index: number): string {
  const at = mails[index]?.at ?? ''
  const older = mails.slice(index + 1).filter((mail) => mail.at === at).length
  return `${at}~${older}`
}
