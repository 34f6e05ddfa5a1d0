import { listPasskeys } from '../../flows/passkeys/list.js'
import type { RouteContext } from '../../http/route.js'
import { toPasskeyEntry } from '../../model/factors/passkey-entry.js'
import type { SessionPrincipal } from '../../model/principal.js'

/** The page tells the browser of them itself, so they show only where it can. */
export async function passkeyValues({ ports, settings, authPath }: RouteContext, principal: SessionPrincipal) {
  if (!settings.passkeys.enabled) return { passkeys: false, hasPasskey: false, passkeyList: [], confirmedUrl: '' }
  const { passkeys } = await listPasskeys(ports, principal)
  return { passkeys: true, passkeyList: passkeys.map(toPasskeyEntry), confirmedUrl: `${authPath}/account#passkeys` }
}
