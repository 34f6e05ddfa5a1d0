import { readAccess } from '../../../flows/control/access-settings.js'
import { queryOf } from '../../../http/query.js'
import { createAllowRule } from '../../../lib/ip-ranges.js'
import { defineAdminPage } from './admin-page.js'

export const accessPage = defineAdminPage({
  home: 'space',
  who: 'member',
  path: '/access',
  at: 'access',
  template: 'access',
  summary: 'Shows the IP allow-list and your own address; adds and removes entries.',
  async values({ ports, admin, request, space }) {
    const { allowList } = await readAccess(ports)
    const { fixed, added } = allowList
    const { ip } = admin.visitor
    const networks = [...fixed, ...added]
    const { access } = ports.policy
    const allows = (list: readonly string[]) => createAllowRule(list, access)(ip)
    return {
      about: space === null ? 'admin.access.about' : 'admin.access.aboutSpace',
      ip,
      open: networks.length === 0,
      isAllowed: allows(networks),
      addable: ip !== null && access.knowsClients && (networks.length === 0 || !allows(networks)),
      fixed,
      added: added.map((network, index) => {
        const rest = networks.filter((entry) => entry !== network)
        const isLast = rest.length === 0
        const excludesOwn = !isLast && !allows(rest)
        return { network, index, isLast, excludesOwn, question: questionOf({ isLast, excludesOwn }) }
      }),
      kept: queryOf(request).get('network') ?? '',
    }
  },
})

/** The label of what removing the entry means. */
function questionOf({ isLast, excludesOwn }: { isLast: boolean; excludesOwn: boolean }): string {
  if (isLast) return 'admin.access.lastHow'
  return excludesOwn ? 'admin.access.ownHow' : 'admin.access.removeHow'
}
