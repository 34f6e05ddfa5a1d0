import type { Landing } from '../../flows/oauth/state.js'
import { serializeCookie } from '../../http/cookies.js'
import type { RouteContext } from '../../http/route.js'
import { withQuery } from '../../lib/url.js'
import type { Settings } from '../../settings.js'

/** Whether there is anybody to go to. */
export function hasProviders({ providers }: Pick<Settings, 'providers'>): boolean {
  return providers.length > 0
}

/** Where a browser goes that comes from a provider, or cannot go to it. */
export function landingUrl(
  { settings, authPath }: Pick<RouteContext, 'settings' | 'authPath'>,
  provider: string,
  { to, returnTo, code }: Landing,
): string {
  const onward = returnTo === null ? {} : { redirect: returnTo }
  const error = { error: code ?? 'oauth_failed', provider }
  switch (to) {
    case 'success':
      return returnTo ?? settings.redirectSuccessUrl
    case 'two_factor':
      return withQuery(`${authPath}/two-factor`, onward)
    case 'identity':
      return withQuery(`${authPath}/register/identity`, onward)
    case 'linked':
      return returnTo ?? `${authPath}/account?done=identity_linked#identities`
    case 'account':
      return withQuery(`${authPath}/account`, error)
    case 'failure': {
      // Signing in with what the account has leads on to where the login can be linked.
      const linking = code === 'oauth_link_required' ? { redirect: `${authPath}/account?link=${provider}` } : onward
      return withQuery(settings.redirectFailUrl, { ...error, ...linking })
    }
  }
}

/** What the browser keeps of its way to a provider, for that long. */
export function browserCookie(
  { settings, authPath }: Pick<RouteContext, 'settings' | 'authPath'>,
  handle: string,
  seconds: number,
): string {
  return serializeCookie('oauth', handle, seconds, settings, authPath)
}
