import type { Landing } from '../../flows/oauth/state.js'
import { serializeCookie } from '../../http/cookies.js'
import { mailInQuery } from '../../http/refusal.js'
import type { RouteContext } from '../../http/route.js'
import { withQuery } from '../../lib/url.js'
import type { Settings } from '../../settings.js'

/** Whether the settings name a provider. */
export function hasProviders({ providers }: Pick<Settings, 'providers'>): boolean {
  return providers.length > 0
}

/** Where a browser goes after the provider, or if the provider cannot be reached. */
export function landingUrl(
  { settings, authPath }: { settings: Pick<Settings, 'redirectSuccessUrl' | 'redirectFailUrl'>; authPath: string },
  provider: string,
  { to, returnTo, code, mailSent = null }: Omit<Landing, 'mailSent'> & Partial<Pick<Landing, 'mailSent'>>,
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
      // After the user signs in another way, the next page offers to link this login.
      const linking = code === 'oauth_link_required' ? { redirect: `${authPath}/account?link=${provider}` } : onward
      return withQuery(settings.redirectFailUrl, { ...error, ...mailInQuery(mailSent), ...linking })
    }
  }
}

/** The cookies of the browser's visit to a provider, with their lifetime. */
export function browserCookie(
  { settings, authPath }: Pick<RouteContext, 'settings' | 'authPath'>,
  handle: string,
  seconds: number,
): string {
  return serializeCookie('oauth', handle, seconds, settings, authPath)
}
