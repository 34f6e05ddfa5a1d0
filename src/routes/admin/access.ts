import { access } from '../../contract/access.js'
import { allowNetworkSafely, disallowNetworkSafely, readAccess } from '../../flows/control/access-settings.js'
import { changeJwksUrl, changeKeySet, checkKeySetUrl } from '../../flows/control/key-set.js'
import { empty, json } from '../../http/problem.js'
import { createAllowRule } from '../../lib/ip-ranges.js'
import { type ControlContext, defineControlRoute } from './control-route.js'
import { showKeySetCheck } from './pages/jwks.js'

export const readAccessRoute = defineControlRoute({
  ...access.read,
  handle: async (context) => json(200, await viewOf(context)),
})

export const changeJwksRoute = defineControlRoute({
  ...access.setKeySet,
  form: { page: '/jwks', section: 'jwks', done: 'jwks_changed', keeps: ['url'] },
  async handle(context, { url }) {
    const { ports, admin } = context
    await changeJwksUrl(ports, { url: url === '' ? null : url, visitor: admin.visitor })
    return json(200, await viewOf(context))
  },
})

/** In the host. A space has no settings, so the rules come with the URL. */
export const changeSpaceJwksRoute = defineControlRoute({
  ...access.setSpaceKeySet,
  form: { page: '/jwks', section: 'jwks', done: 'jwks_changed', keeps: ['url', 'issuer', 'audience', 'algorithms'] },
  async handle(context, { url, ...rules }) {
    const { ports, admin } = context
    await changeKeySet(ports, { change: { ...rules, url: url === '' ? null : url }, visitor: admin.visitor })
    return json(200, await viewOf(context))
  },
})

export const checkJwksRoute = defineControlRoute({
  ...access.checkKeySet,
  form: { page: '/jwks', section: 'check', keeps: ['url'], ownAnswer: true },
  async handle(context, { url }) {
    const found = await checkKeySetUrl(context.ports, { url, userId: context.admin.principal.userId })
    return context.asPage ? showKeySetCheck(context, found, url) : json(200, found)
  },
})

export const allowNetworkRoute = defineControlRoute({
  ...access.allow,
  form: { page: '/access', section: 'networks', done: 'network_added', keeps: ['network'] },
  async handle(context, change) {
    await allowNetworkSafely(context.ports, { ...change, visitor: context.admin.visitor })
    return json(200, await viewOf(context))
  },
})

export const disallowNetworkRoute = defineControlRoute({
  ...access.disallow,
  form: { page: '/access', section: 'networks', done: 'network_removed' },
  async handle({ ports, admin }, change) {
    await disallowNetworkSafely(ports, { ...change, visitor: admin.visitor })
    return empty(204)
  },
})

async function viewOf({ ports, admin }: ControlContext) {
  const view = await readAccess(ports)
  const { fixed, added } = view.allowList
  const networks = [...fixed, ...added]
  const { ip } = admin.visitor
  return {
    ...view,
    you: { ip, allowed: createAllowRule(networks, ports.policy.access)(ip) },
    keySet: ports.keySets.inForce(),
  }
}
