import type { JudgedProviderInput } from '../settings/input.js'
import { judgedClient, secretClientOf, serverUrl } from '../settings/providers.js'
import type { OpenIdEndpoints } from './discovery.js'
import { defineProvider, type ProviderKind } from './kind.js'
import { openIdRecipe } from './openid.js'

export interface GitlabInput extends JudgedProviderInput {
  /** Default: `https://gitlab.com`. */
  BASE_URL?: string | undefined
}

const schema = judgedClient
  .extend({
    BASE_URL: serverUrl.prefault('https://gitlab.com'),
  })
  .transform(({ trustEmail, BASE_URL, ...given }) => ({
    ...secretClientOf(given),
    trustEmail,
    baseUrl: BASE_URL.replace(/\/$/, ''),
  }))

/** GitLab, on gitlab.com or self-hosted: an OpenID issuer whose endpoints are known. */
export const gitlab: ProviderKind<GitlabInput> = defineProvider({
  kind: 'gitlab',
  schema,
  recipe: (settings, workshop) => {
    const endpoints = endpointsAt(settings.baseUrl)
    const shown = { label: 'GitLab', scopes: ['openid', 'email', 'profile'] }
    return openIdRecipe({ ...settings, ...shown }, workshop, () => endpoints)
  },
})

function endpointsAt(baseUrl: string): OpenIdEndpoints {
  return {
    authorization: `${baseUrl}/oauth/authorize`,
    token: `${baseUrl}/oauth/token`,
    keySet: `${baseUrl}/oauth/discovery/keys`,
    userinfo: `${baseUrl}/oauth/userinfo`,
    algorithms: ['RS256'],
    secretIn: 'body',
    namesItself: false,
    isIssuer: (issuer) => issuer === baseUrl,
  }
}
