import { listPasskeys } from '../../flows/passkeys/list.js'
import type { RouteContext } from '../../http/route.js'
import { toPasskeyEntry } from '../../model/factors/passkey-entry.js'
import type { SessionPrincipal } from '../../model/principal.js'

/**
 * The section of passkeys on the account page. It is hidden until the page's script has found that the browser can do passkeys. The
 * script also signals to the browser which passkeys the account has.
 */
export async function passkeyValues({ ports, settings, authPath }: RouteContext, principal: SessionPrincipal) {
  if (!settings.passkeys.enabled) return { passkeys: false, hasPasskey: false, passkeyList: [], confirmedUrl: '' }
  const { passkeys } = await listPasskeys(ports, principal)
  const passkeyList = passkeys.map((passkey) => ({
    ...toPasskeyEntry(passkey, ports.policy.passkeys),
    suspended: passkey.suspendedAt !== null,
  }))
  return { passkeys: true, passkeyList, confirmedUrl: `${authPath}/account#passkeys` }
}
