import { adminCommands } from '../../../contract/admin-command.js'
import type { AdminTokenEntry } from '../../../contract/admin-tokens.js'
import type { HttpRequest, HttpResponse } from '../../../http/message.js'
import type { Route } from '../../../http/route.js'
import { queryText } from '../../../routes/admin/fields.js'
import { type AdminContext, defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import { showSecret } from '../../../routes/admin/pages/secret.js'
import { type CreatedAdminToken, listAdminTokens } from '../../flows/people/admin-tokens.js'
import { listTeams, type TeamEntry } from '../../flows/people/teams.js'
import type { FindPeople } from '../people-answers.js'

const place = { path: '/admin-tokens', at: 'adminTokens' } as const

export function adminTokensPage(people: FindPeople): Route {
  return defineAdminPage({
    ...place,
    home: 'host',
    template: 'admin-tokens',
    summary: 'Lists the admin tokens; makes and removes them. Asks about team tokens whose maker has left the team.',
    async values({ ports, admin, request }) {
      const [tokens, teams] = await Promise.all([listAdminTokens(people()), listTeams(people())])
      const now = ports.clock.nowMs()
      const all = tokens.map((token) => ({ ...shownToken(token, now), left: hasLeft(token, teams) }))
      return {
        items: all,
        left: all.filter(({ left }) => left),
        owners: ownTeams(teams, admin.principal.userId, queryText(request, 'owner')),
        commands: adminCommands.join(', '),
        kept: keptFields(request),
      }
    },
  })
}

function shownToken({ owner, madeBy, spaces, commands, cidrs, lastUse, ...token }: AdminTokenEntry, nowMs: number) {
  return {
    ...token,
    owner: owner.name,
    isTeam: owner.kind === 'team',
    maker: madeBy.email ?? madeBy.id.slice(0, 8),
    spaces: spaces?.join(', ') ?? '',
    commands: commands?.join(', ') ?? '',
    networks: cidrs.join(', '),
    lastDay: lastUse?.day ?? '',
    lastNetwork: lastUse?.network ?? '',
    over: token.expiresAt !== null && Date.parse(token.expiresAt) <= nowMs,
    action: `/admintokens/${token.id}`,
  }
}

/** A token of a team goes on working when its maker leaves the team. */
function hasLeft({ owner, madeBy }: AdminTokenEntry, teams: readonly TeamEntry[]): boolean {
  const team = teams.find(({ id }) => id === owner.id)
  return owner.kind === 'team' && team !== undefined && !team.members.some(({ id }) => id === madeBy.id)
}

/** Administrators make tokens for teams that they are a member of. */
function ownTeams(teams: readonly TeamEntry[], userId: string, chosen: string | undefined) {
  const own = teams.filter(({ members }) => members.some(({ id }) => id === userId))
  return own.map(({ id, name }) => ({ value: id, name, selected: id === chosen }))
}

/** The fields of a creation that was refused. */
function keptFields(request: Pick<HttpRequest, 'query'>) {
  const text = (name: string) => queryText(request, name) ?? ''
  const limits = {
    expiresAt: text('expiresAt'),
    cidrs: text('cidrs'),
    spaces: text('spaces'),
    commands: text('commands'),
  }
  return { name: text('name'), ...limits, more: Object.values(limits).some((value) => value !== '') }
}

/** Shows a new token as the answer to the POST that made it. */
export function showAdminToken(
  context: AdminContext,
  { name, owner, token }: Pick<CreatedAdminToken, 'name' | 'owner' | 'token'>,
): Promise<HttpResponse> {
  return showSecret(context, {
    page: place,
    heading: 'admin.adminTokens.made',
    about: 'admin.adminTokens.once',
    name,
    badge: owner.name,
    secret: token,
    example: '',
  })
}
