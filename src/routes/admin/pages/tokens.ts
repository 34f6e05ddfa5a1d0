import type { ApiTokenEntry, CreatedApiToken } from '../../../contract/api-tokens.js'
import { pagingQuery } from '../../../contract/fields.js'
import { listApiTokens } from '../../../flows/control/api-tokens.js'
import type { HttpResponse } from '../../../http/message.js'
import { type Query, queryOf } from '../../../http/query.js'
import { paging } from '../fields.js'
import { type AdminContext, defineAdminPage, listed } from './admin-page.js'
import { showSecret } from './secret.js'

export const tokensPage = defineAdminPage({
  home: 'space',
  path: '/tokens',
  at: 'tokens',
  template: 'tokens',
  summary: 'Lists the API tokens; creates, rotates and removes them.',
  query: pagingQuery,
  async values(context) {
    const { ports, request } = context
    const { items, pager } = listed(context, await listApiTokens(ports, paging(request)))
    const now = ports.clock.now() * 1_000
    return { items: items.map((token) => shownToken(token, now)), pager, kept: keptFields(queryOf(request)) }
  },
})

/** The fields of a creation that was refused. */
function keptFields(given: Query) {
  const text = (name: string) => given.get(name) ?? ''
  const [expiresAt, cidrs] = [text('expiresAt'), text('cidrs')]
  return {
    name: text('name'),
    readWrite: text('access') === 'READWRITE',
    expiresAt,
    cidrs,
    more: expiresAt !== '' || cidrs !== '',
  }
}

function shownToken({ cidrs, ...token }: ApiTokenEntry, nowMs: number) {
  return {
    ...token,
    networks: cidrs.join(', '),
    writes: token.access === 'READWRITE',
    over: token.expiresAt !== null && Date.parse(token.expiresAt) <= nowMs,
    action: `/tokens/${token.id}`,
    rotate: `/tokens/${token.id}/rotate`,
  }
}

/** Shows a new token as the answer to the POST that made it: neither an address nor a session holds it. */
export function showToken(
  context: AdminContext,
  { name, access, token }: Pick<CreatedApiToken, 'name' | 'access' | 'token'>,
): Promise<HttpResponse> {
  const { settings, space } = context
  const [api = '/api'] = settings.baseAPIRoutes
  const url = `${settings.origin}${settings.urlPath}${api}`
  return showSecret(context, {
    page: { path: '/tokens', at: 'tokens' },
    heading: 'admin.secret.title',
    about: 'admin.secret.once',
    name,
    badge: access,
    secret: token,
    // The settings of a host do not name the address of a space.
    example: space === null ? `curl -H "x-apikey: ${token}" ${url}` : '',
  })
}
