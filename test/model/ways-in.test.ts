import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Factor } from '../../src/model/factors/kinds.js'
import type { Totp } from '../../src/model/factors/totp.js'
import { mayRemove, signsInAt, type WayIn } from '../../src/model/ways-in.js'

const app: Totp = { kind: 'totp', sealedSecret: 'key1.secret', lastStep: 100, enabledAt: 1000 }

interface Account {
  passwordHash: string | null
  identities: { provider: string; linkedAt: number }[]
  factors: Factor[]
}

const account = (overrides: Partial<Account> = {}): Account => ({
  passwordHash: null,
  identities: [],
  factors: [],
  ...overrides,
})

const linked = (...providers: string[]) => providers.map((provider) => ({ provider, linkedAt: 1000 }))

const accounts: fc.Arbitrary<Account> = fc.record({
  passwordHash: fc.constantFrom(null, '$hash$1'),
  identities: fc.subarray(['google', 'github', 'apple']).map((providers) => linked(...providers)),
  factors: fc.constantFrom([], [app]),
})

/** The account without that way in. */
function without(user: Account, what: WayIn): Account {
  if (what.kind === 'password') return { ...user, passwordHash: null }
  if (what.kind === 'factor') return { ...user, factors: user.factors.filter((factor) => factor !== what.factor) }
  return { ...user, identities: user.identities.filter(({ provider }) => provider !== what.provider) }
}

const canSignIn = ({ passwordHash, identities }: Account) => passwordHash !== null || identities.length > 0

/** Of a site with passkeys. */
const here = signsInAt('example.test')

describe('what may be removed', () => {
  test('a login at a provider goes where a password or another login stays', () => {
    const google: WayIn = { kind: 'identity', provider: 'google' }
    expect(mayRemove(account({ identities: linked('google') }), google, here)).toBe(false)
    expect(mayRemove(account({ identities: linked('google'), passwordHash: '$hash$1' }), google, here)).toBe(true)
    expect(mayRemove(account({ identities: linked('google', 'github') }), google, here)).toBe(true)
  })

  test('a password goes where a login at a provider stays', () => {
    expect(mayRemove(account({ passwordHash: '$hash$1' }), { kind: 'password' }, here)).toBe(false)
    expect(
      mayRemove(account({ passwordHash: '$hash$1', identities: linked('google') }), { kind: 'password' }, here),
    ).toBe(true)
  })

  test('an authenticator app signs nobody in by itself: it may always go, and is no reason for another to go', () => {
    const secured = account({ identities: linked('google'), factors: [app] })
    expect(mayRemove(secured, { kind: 'factor', factor: app }, here)).toBe(true)
    expect(mayRemove(secured, { kind: 'identity', provider: 'google' }, here)).toBe(false)
    expect(mayRemove(account({ factors: [app] }), { kind: 'factor', factor: app }, here)).toBe(true)
  })

  describe('of a kind of factor that signs in', () => {
    const signsIn = () => true
    const asRead = (factor: Totp): WayIn => ({ kind: 'factor', factor: { ...factor, lastStep: 101 } })
    const younger: Totp = { ...app, enabledAt: 2000 }

    test('the last one stays, also where another read of the account brought it', () => {
      expect(mayRemove(account({ factors: [app] }), asRead(app), signsIn)).toBe(false)
      expect(mayRemove(account({ factors: [app], passwordHash: '$hash$1' }), asRead(app), signsIn)).toBe(true)
      expect(mayRemove(account({ factors: [app, younger] }), asRead(app), signsIn)).toBe(true)
      expect(mayRemove(account({ factors: [app, { ...app }] }), asRead(app), signsIn)).toBe(false)
    })

    test('it is a reason for another way in to go', () => {
      const secured = account({ factors: [app], passwordHash: '$hash$1' })
      expect(mayRemove(secured, { kind: 'password' }, signsIn)).toBe(true)
    })

    test('a passkey of another RP id, or while passkeys are off, signs nobody in', () => {
      const passkey = { kind: 'passkey', id: 'one', rpId: 'example.test', enabledAt: 500 } as const
      const user = account({ factors: [passkey], identities: linked('google') })
      const google: WayIn = { kind: 'identity', provider: 'google' }
      expect(mayRemove(user, google, here)).toBe(true)
      expect(mayRemove(user, google, signsInAt('former.test'))).toBe(false)
      expect(mayRemove(user, google, signsInAt(null))).toBe(false)
    })

    test('what is not on the account may go: that removes nothing', () => {
      expect(mayRemove(account({ factors: [app] }), asRead(younger), signsIn)).toBe(true)
      expect(mayRemove(account({ factors: [app] }), { kind: 'identity', provider: 'google' }, signsIn)).toBe(true)
      expect(mayRemove(account({ factors: [app] }), { kind: 'password' }, signsIn)).toBe(true)
    })
  })

  test('whatever an account has, a removal that is allowed never takes its last way in, and no other is refused', () => {
    const ways = fc.constantFrom<WayIn>(
      { kind: 'password' },
      { kind: 'identity', provider: 'google' },
      { kind: 'identity', provider: 'github' },
      { kind: 'factor', factor: app },
    )
    fc.assert(
      fc.property(accounts, ways, (user, what) => {
        const takesTheLast = canSignIn(user) && !canSignIn(without(user, what))
        expect(mayRemove(user, what, here)).toBe(!takesTheLast)
      }),
    )
  })
})
