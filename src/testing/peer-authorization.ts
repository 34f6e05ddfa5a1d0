import type { PeerClients } from './peer-clients.js'
import type { PeerSite } from './peer-sites.js'

/** The parameters with which a browser was sent to a provider. */
export interface Authorization {
  site: PeerSite
  clientId: string
  redirectUri: string
  state: string
  scope: readonly string[]
  challenge: string
  /** Null: none was sent, and none is returned. */
  nonce: string | null
}

/**
 * Reads an authorization request as strictly as providers do.
 *
 * @throws {Error} that names the fault, where a real provider shows an error page and does not redirect
 */
export function readAuthorization(
  authorizationUrl: string,
  sites: readonly PeerSite[],
  clients: PeerClients,
): Authorization {
  if (!URL.canParse(authorizationUrl)) throw new Error('The authorization URL is no URL. Pass the location header.')
  const { origin, pathname, searchParams } = new URL(authorizationUrl)
  const site = sites.find(({ authorization }) => authorization === `${origin}${pathname}`)
  if (site === undefined) throw new Error(`${origin}${pathname} is no authorization endpoint of the test peer.`)

  const sent = (name: string) => {
    const [value = null, ...others] = searchParams.getAll(name)
    // RFC 6749 §3.1: no parameter more than once.
    return others.length > 0 ? null : value
  }
  const client = clients[site.name]
  const scope = (sent('scope') ?? '').split(' ')
  const faults = [
    [sent('response_type') === 'code', 'response_type is not code'],
    [sent('client_id') === client.CLIENT_ID, 'client_id is of no client'],
    [sent('redirect_uri') === client.REDIRECT_URI, 'redirect_uri is not the one that is registered'],
    [scope.includes(site.scope), `scope lacks ${site.scope}`],
    [sent('code_challenge_method') === 'S256', 'code_challenge_method is not S256'],
    [/^[\w-]{43}$/.test(sent('code_challenge') ?? ''), 'code_challenge is none of S256'],
    [sent('state'), 'state is missing'],
  ] as const
  const [fault] = faults.filter(([holds]) => !holds)
  if (fault) throw new Error(`${site.name} shows an error: ${fault[1]}`)

  return {
    site,
    clientId: client.CLIENT_ID,
    redirectUri: client.REDIRECT_URI,
    state: sent('state') ?? '',
    scope,
    challenge: sent('code_challenge') ?? '',
    nonce: sent('nonce'),
  }
}
