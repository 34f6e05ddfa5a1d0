import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SettingsError } from '../../src/errors.js'
import { createWorld } from '../../src/lib/runtime.js'
import { defineProvider } from '../../src/oauth/kind.js'
import { createProviders, providerKinds } from '../../src/oauth/providers.js'
import { text } from '../../src/settings/field.js'
import { judgedClient, providerOf, secretClientOf } from '../../src/settings/providers.js'
import { parseSettings } from '../../src/settings.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { createClientAssertions } from '../../src/tokens/client-assertions.js'
import { createIdTokens } from '../../src/tokens/id-tokens.js'
import { readSources } from '../support/house-source.js'
import { startAt } from '../support/providers.js'

const sources = readSources(fileURLToPath(new URL('../..', import.meta.url)))

/** Other subjects that share a name: hosts of key sets, a font of the generated style sheet, keepers of passkeys, and what previews show. */
const otherSubjects = [
  'src/settings/jwks.ts',
  'src/settings/passkey-site.ts',
  'src/model/factors/passkey-entry.ts',
  'src/templates/account-sample.ts',
  'src/templates/built-in.ts',
  'src/templates/samples.ts',
]

describe('a kind of provider', () => {
  test.each(Object.keys(providerKinds.further))(
    '%s is named by its own file and the list, and nowhere else',
    (name) => {
      const named = sources.filter(({ text }) => new RegExp(name, 'i').test(text)).map(({ path }) => path)
      const elsewhere = named.filter((path) => !otherSubjects.includes(path))
      expect(elsewhere.sort()).toEqual([`src/oauth/${name}.ts`, 'src/oauth/providers.ts'].sort())
    },
  )

  test('has the name that the settings give it', () => {
    const { google, github, further, other } = providerKinds
    const named = Object.entries({ google, github, ...further, openid: other })
    expect(named.map(([name]) => name)).toEqual(named.map(([, { kind }]) => kind))
  })
})

describe('a kind of provider that is new to the list', () => {
  const endpoints = {
    authorization: 'https://id.example.test/authorize',
    token: 'https://id.example.test/token',
    secretIn: 'body',
    namesItself: false,
    isIssuer: () => false,
  } as const
  const example = defineProvider({
    kind: 'example',
    schema: judgedClient
      .extend({ REGION: text('must be eu or us', (value) => (['eu', 'us'].includes(value) ? value : null)) })
      .transform(({ REGION, trustEmail, ...given }) => ({ ...secretClientOf(given), trustEmail, region: REGION })),
    recipe: ({ clientSecret, region }) => ({
      label: `Example ${region}`,
      scopes: ['profile'],
      parameters: () => ({ region }),
      endpoints: () => endpoints,
      clientSecret: () => clientSecret,
      account: async () => ({ id: '1', email: null, emailVerified: null, authoritative: false, name: null }),
    }),
  })
  const kinds = { ...providerKinds, further: { ...providerKinds.further, example } }
  const entry = {
    CLIENT_ID: 'the-client',
    CLIENT_SECRET: 'the-secret',
    REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/example',
  }
  const parse = (given: object) =>
    parseSettings(testSettings({ oauth: { example: { ...entry, ...given } } }), { testing: true }, kinds)

  test('is parsed by its schema and spoken to by its recipe', async () => {
    const world = createWorld(createTestRuntime())
    const { providers, logger } = parse({ REGION: 'eu' })
    const workshop = { world, idTokens: createIdTokens(world), signAssertion: createClientAssertions(world), logger }
    const created = createProviders(kinds, providers, workshop)

    expect(created.list()).toEqual([{ name: 'example', label: 'Example eu' }])
    const provider = created.find('example')
    if (!provider) throw new Error('the settings name it')
    const url = new URL(await startAt(provider))
    expect(`${url.origin}${url.pathname}`).toBe(endpoints.authorization)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'the-client',
      scope: 'profile',
      region: 'eu',
    })
  })

  test('has its faults reported by the names of its own settings', () => {
    const faultsOf = (given: object) => {
      try {
        parse(given)
        return []
      } catch (error) {
        if (error instanceof SettingsError) return error.faults
        throw error
      }
    }
    expect(faultsOf({ REGION: 'x' })).toEqual([{ setting: 'oauth.example.REGION', message: 'must be eu or us' }])
    expect(faultsOf({ REGION: 'eu', REGIO: 'eu' })).toEqual([
      { setting: 'oauth.example.REGIO', message: 'is not a setting; did you mean REGION?' },
    ])
  })

  test('is refused where the list does not have it', () => {
    const world = createWorld(createTestRuntime())
    const { providers, logger } = parse({ REGION: 'eu' })
    const workshop = { world, idTokens: createIdTokens(world), signAssertion: createClientAssertions(world), logger }
    expect(() => createProviders(providerKinds, providers, workshop)).toThrow('of a kind that is not listed: example')
  })

  test('never gets the settings of another kind', () => {
    const world = createWorld(createTestRuntime())
    const { providers, logger } = parse({ REGION: 'eu' })
    const workshop = { world, idTokens: createIdTokens(world), signAssertion: createClientAssertions(world), logger }
    for (const settings of providers) {
      expect(() => providerKinds.google.create(settings, workshop)).toThrow(
        'example is of the kind example, not google',
      )
    }
    expect(providers).toHaveLength(1)
  })
})

test('the schema of a kind cannot name another kind or another provider', () => {
  const own = { clientId: 'app', redirectUri: 'https://example.com/auth/oauthcallback/company' }
  const schema = z.unknown().transform(() => ({ ...own, kind: 'google', name: 'github' }))
  expect(providerOf({ kind: 'openid', schema }, 'company').parse({})).toEqual({
    ...own,
    kind: 'openid',
    name: 'company',
  })
})
