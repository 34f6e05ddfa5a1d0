import { pagingQuery } from '../../../contract/fields.js'
import { readMailQueue } from '../../../flows/control/read-mail-queue.js'
import { paging, queryText } from '../fields.js'
import { defineAdminPage, listed } from './admin-page.js'

const states = ['waiting', 'set_aside'] as const

export const mailPage = defineAdminPage({
  path: '/mail',
  at: 'mail',
  template: 'mail',
  summary: 'Lists the mails that wait or were set aside; sends them again or drops them.',
  query: { state: '`waiting` or `set_aside`.', ...pagingQuery },
  async values(context) {
    const { ports, request } = context
    const state = states.find((name) => name === queryText(request, 'state'))
    const page = await readMailQueue(ports, { ...paging(request), ...(state && { state }) })
    const { items, pager } = listed(context, page)
    return {
      items: items.map((mail) => ({
        ...mail,
        aside: mail.state === 'set_aside',
        stateText: `admin.mail.${mail.state}`,
        action: `/mail/${mail.id}`,
      })),
      pager,
      states: states.map((value) => ({ value, text: `admin.mail.${value}`, selected: value === state })),
    }
  },
})
