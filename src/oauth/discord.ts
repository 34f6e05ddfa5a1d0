import type { JudgedProviderInput } from '../settings/input.js'
import { judgedClient, secretClientOf } from '../settings/providers.js'
import { accountId, textOf } from './account.js'
import type { Endpoints } from './code-flow.js'
import { defineProvider, type ProviderKind } from './kind.js'
import { askObject } from './questions.js'

const endpoints: Endpoints = {
  authorization: 'https://discord.com/oauth2/authorize',
  token: 'https://discord.com/api/oauth2/token',
  secretIn: 'header',
  namesItself: false,
  // Discord documents no issuer. If it ever sends one, it must be on its own host.
  isIssuer: (issuer) => issuer === 'https://discord.com' || issuer.startsWith('https://discord.com/'),
}
const userUrl = 'https://discord.com/api/v10/users/@me'

/** Discord, by its API. */
export const discord: ProviderKind<JudgedProviderInput> = defineProvider({
  kind: 'discord',
  schema: judgedClient.transform(({ trustEmail, ...given }) => ({ ...secretClientOf(given), trustEmail })),
  recipe: ({ clientSecret, trustEmail }, { world }) => ({
    label: 'Discord',
    scopes: ['identify', 'email'],
    parameters: () => ({}),
    endpoints: () => endpoints,
    clientSecret: () => clientSecret,
    async account({ accessToken }) {
      const user = await askObject(world, 'user', userUrl, accessToken)
      const email = textOf(user.email)
      const emailVerified = email === null ? null : user.verified === true
      return {
        id: accountId(user.id), // a 64-bit number, which Discord sends as text because JSON numbers lose digits
        email,
        emailVerified,
        authoritative: emailVerified === true && trustEmail,
        name: textOf(user.global_name) ?? textOf(user.username),
      }
    },
  }),
})
