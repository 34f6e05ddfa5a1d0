import type { GitlabProvider } from '../settings.js'
import { createCodeFlow, type Workshop } from './code-flow.js'
import type { OpenIdEndpoints } from './discovery.js'
import { openIdRecipe } from './openid.js'
import type { Provider } from './provider.js'

/** GitLab, on gitlab.com or a server of one's own: an OpenID issuer whose endpoints are known. */
export function createGitlab(settings: GitlabProvider, workshop: Workshop): Provider {
  const { baseUrl } = settings
  const endpoints: OpenIdEndpoints = {
    authorization: `${baseUrl}/oauth/authorize`,
    token: `${baseUrl}/oauth/token`,
    keySet: `${baseUrl}/oauth/discovery/keys`,
    userinfo: `${baseUrl}/oauth/userinfo`,
    algorithms: ['RS256'],
    secretIn: 'body',
    namesItself: false,
    isIssuer: (issuer) => issuer === baseUrl,
  }
  const shown = { ...settings, label: 'GitLab', scopes: ['openid', 'email', 'profile'] }
  return createCodeFlow(
    workshop,
    openIdRecipe(shown, workshop, () => endpoints),
  )
}
