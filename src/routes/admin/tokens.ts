import { apiTokens } from '../../contract/api-tokens.js'
import { createApiToken, listApiTokens, removeApiToken, rotateApiToken } from '../../flows/control/api-tokens.js'
import { empty, json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'
import { paging } from './fields.js'
import { showToken } from './pages/tokens.js'

export const listTokensRoute = defineControlRoute({
  ...apiTokens.list,
  handle: async ({ ports, request }) => json(200, await listApiTokens(ports, paging(request))),
})

export const createTokenRoute = defineControlRoute({
  ...apiTokens.create,
  form: { page: '/tokens', section: 'create', keeps: ['name', 'access', 'expiresAt', 'cidrs'], ownAnswer: true },
  async handle(context, { cidrs, ...token }) {
    const { ports, admin, asPage } = context
    const networks = cidrs === undefined || cidrs.length === 0 ? {} : { cidrs }
    const created = await createApiToken(ports, { token: { ...token, ...networks }, visitor: admin.visitor })
    return asPage ? showToken(context, created) : json(201, created)
  },
})

export const removeTokenRoute = defineControlRoute({
  ...apiTokens.remove,
  form: { page: '/tokens', section: 'tokens', done: 'token_removed' },
  async handle({ ports, params, admin }) {
    await removeApiToken(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const rotateTokenRoute = defineControlRoute({
  ...apiTokens.rotate,
  form: { page: '/tokens', section: 'tokens', ownAnswer: true },
  async handle(context, options) {
    const { ports, params, admin, asPage } = context
    const created = await rotateApiToken(ports, { id: params.id ?? '', options, visitor: admin.visitor })
    return asPage ? showToken(context, created) : json(201, created)
  },
})
