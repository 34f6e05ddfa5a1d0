import type { FoundDevice } from '../../../flows/control/device/answer.js'
import type { HttpResponse } from '../../../http/message.js'
import { type AdminContext, defineAdminPage, showAdminPage } from './admin-page.js'

const place = { path: '/device', at: 'device', template: 'device', forms: 'member' } as const

export const devicePage = defineAdminPage({
  ...place,
  who: 'member',
  summary: 'Approves or denies the sign-in of the command-line tool, by the code that it shows.',
  values: async () => ({ found: null, userCode: '' }),
})

/** Shows which machine asks. The code stands in the page alone: a link that carries one must approve nothing (RFC 8628 §5.4). */
export function showDevice(
  context: AdminContext,
  found: Omit<FoundDevice, 'askedAt'> & { askedAt: string },
  userCode: string,
): Promise<HttpResponse> {
  return showAdminPage(context, place, { found, userCode })
}
