import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import {
  aMail,
  anEvent,
  aRegistration,
  atOnce,
  auditedEvents,
  aVerification,
  createdUser,
  keptToken,
  now,
  waitingMails,
} from './rows.js'

const email = 'ada@example.com'

export function oneTimeTokensContract(current: () => TestStore): void {
  keepingContract(current)
  findingContract(current)
  guessingContract(current)
  renewingContract(current)
  claimingContract(current)
  resealingContract(current)
  pruningContract(current)
}

function keepingContract(current: () => TestStore): void {
  test('a token is kept with its mail and its event, every field as it was given', async () => {
    const { store, mailSignals } = current()
    const token = aRegistration(email, { tries: 3 })
    const mail = aMail()
    await store.oneTimeTokens.put(token, mail, { keep: 3, now, audit: anEvent({ event: 'registration_requested' }) })
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toEqual([token])
    expect(mailSignals()).toBe(1)
    expect(await waitingMails(store)).toEqual([mail.id])
    expect(await auditedEvents(store)).toEqual(['registration_requested'])
  })

  test('beyond the limit the oldest of the same purpose and subject goes, and no other', async () => {
    const { store } = current()
    const user = await createdUser(store, { emailCanonical: email })
    const verification = await keptToken(store, aVerification(user))
    const other = await keptToken(store, aRegistration('grace@example.com'))
    const tokens = Array.from({ length: 5 }, () => aRegistration(email))
    for (const token of tokens) await store.oneTimeTokens.put(token, aMail(), { keep: 3, now })

    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toEqual([tokens[4], tokens[3], tokens[2]])
    expect(await store.oneTimeTokens.listByEmail('email_verification', email, now)).toEqual([verification])
    expect(await store.oneTimeTokens.listByEmail('registration', 'grace@example.com', now)).toEqual([other])
  })

  test('where the subjects of an address share the places, the one with the most loses its oldest', async () => {
    const { store } = current()
    const put = async (subject: string) => {
      const token = aRegistration(email, { subject })
      await store.oneTimeTokens.put(token, null, { keep: 3, sharedBy: 'email', now })
      return token
    }
    const live = async () => (await store.oneTimeTokens.listByEmail('registration', email, now)).map(({ id }) => id)
    const other = await keptToken(store, aRegistration('grace@example.com', { subject: 'theirs' }))
    const own = await put('own')
    const [, second, third] = [await put('theirs'), await put('theirs'), await put('theirs')]
    expect(await live()).toEqual([third.id, second.id, own.id])
    const elsewhere = await put('elsewhere')
    expect(await live()).toEqual([elsewhere.id, third.id, own.id])
    // All have one: the oldest goes.
    const fourth = await put('far')
    expect(await live()).toEqual([fourth.id, elsewhere.id, third.id])
    expect(await store.oneTimeTokens.listByEmail('registration', 'grace@example.com', now)).toEqual([other])
  })

  test('of many put at once by several subjects of an address no more than the limit stay', async () => {
    const { store } = current()
    let subject = 0
    await atOnce(async () => {
      subject += 1
      const token = aRegistration(email, { subject: `${email} ${subject % 4}` })
      await store.oneTimeTokens.put(token, null, { keep: 3, sharedBy: 'email', now })
    })
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toHaveLength(3)
  })

  test('where a browser has one, its new token replaces its own, by the handle or by the secret that it held', async () => {
    const { store } = current()
    const live = async () => (await store.oneTimeTokens.listByEmail('registration', email, now)).map(({ id }) => id)
    const put = async (handleHash: string | null, held: readonly string[] = []) => {
      const token = aRegistration(email, { subject: handleHash ?? 'network', handleHash })
      const places = { keep: 3, sharedBy: 'email', onePerBrowser: { tokenHashes: held } } as const
      await store.oneTimeTokens.put(token, null, { ...places, now })
      return token
    }
    const known = await put('device')
    const unknown = await put(null)
    const sameDevice = await put('device')
    expect(await live()).toEqual([sameDevice.id, unknown.id])
    const sameBrowser = await put(null, [unknown.tokenHash, known.tokenHash])
    expect(await live()).toEqual([sameBrowser.id, sameDevice.id])
    const other = await put(null)
    expect(await live()).toEqual([other.id, sameBrowser.id, sameDevice.id])
  })

  test('where a browser has one, a token without a handle goes before every one with a handle', async () => {
    const { store } = current()
    const live = async () => (await store.oneTimeTokens.listByEmail('registration', email, now)).map(({ id }) => id)
    const put = async (subject: string, handleHash: string | null) => {
      const token = aRegistration(email, { subject, handleHash })
      const places = { keep: 4, sharedBy: 'email', onePerBrowser: { tokenHashes: [] } } as const
      await store.oneTimeTokens.put(token, null, { ...places, now })
      return token.id
    }
    const known = await put('known', 'device')
    const own = await put('own', null)
    await put('theirs', null)
    const second = await put('theirs', null)
    const third = await put('theirs', null)
    expect(await live()).toEqual([third, second, own, known])
    const more = [await put('a', null), await put('b', null), await put('c', null)]
    expect(await live()).toEqual([...more.reverse(), known])
    const devices = [await put('d', '1'), await put('e', '2'), await put('f', '3'), await put('g', '4')]
    expect(await live()).toEqual([...devices].reverse())
  })

  test('where one is kept, the newest replaces the older', async () => {
    const { store } = current()
    await store.oneTimeTokens.put(aRegistration(email), aMail(), { keep: 1, now })
    const newest = aRegistration(email)
    await store.oneTimeTokens.put(newest, aMail(), { keep: 1, now })
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toEqual([newest])
  })

  test('an expired token is dropped, and takes no place from a live one', async () => {
    const { store } = current()
    const live = await keptToken(store, aRegistration(email))
    const expiring = await keptToken(store, aRegistration(email, { expiresAt: now + 5 }))
    const newest = aRegistration(email)
    await store.oneTimeTokens.put(newest, aMail(), { keep: 2, now: now + 5 })
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toEqual([newest, live])
    expect(await store.oneTimeTokens.countTry(expiring.id, 5)).toBe(false)
  })

  test('of many put at once no more than the limit stay, and every mail goes out', async () => {
    const { store } = current()
    const mails = await atOnce(async () => {
      const mail = aMail()
      await store.oneTimeTokens.put(aRegistration(email), mail, { keep: 3, now })
      return mail.id
    })
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toHaveLength(3)
    expect((await waitingMails(store)).sort()).toEqual(mails.sort())
  })
}

function findingContract(current: () => TestStore): void {
  test('tokens are found by what their browser holds, those of one purpose, the live ones, the newest first', async () => {
    const { store } = current()
    const handleHash = 'key1.handle'
    const first = await keptToken(store, aRegistration(email, { handleHash }))
    const second = await keptToken(store, aRegistration('grace@example.com', { handleHash, expiresAt: now + 5 }))
    await keptToken(store, aRegistration(email, { handleHash: 'key1.other' }))
    await keptToken(store, aRegistration(email, { handleHash: null }))
    const find = (hashes: string[], at = now) => store.oneTimeTokens.listByHandle('registration', hashes, at)
    expect(await find(['key2.handle', handleHash])).toEqual([second, first])
    expect(await find([handleHash], now + 5)).toEqual([first])
    expect(await find(['key2.handle'])).toEqual([])
    expect(await find([])).toEqual([])
    expect(await store.oneTimeTokens.listByHandle('otp', [handleHash], now)).toEqual([])
  })

  test('a token is found by any of its possible digests, and stays', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email))
    await keptToken(store, aRegistration(email))
    const find = () => store.oneTimeTokens.findByHash('registration', ['key2.other', token.tokenHash], now)
    expect(await find()).toEqual(token)
    expect(await find()).toEqual(token)
  })

  test('an unknown, expired or foreign digest finds nothing', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email, { expiresAt: now + 5 }))
    const { findByHash } = store.oneTimeTokens
    expect(await findByHash('registration', ['unknown'], now)).toBeNull()
    expect(await findByHash('registration', [], now)).toBeNull()
    expect(await findByHash('registration', [token.tokenHash.toUpperCase()], now)).toBeNull()
    expect(await findByHash('registration', [token.codeHash ?? ''], now)).toBeNull()
    expect(await findByHash('email_verification', [token.tokenHash], now)).toBeNull()
    expect(await findByHash('registration', [token.tokenHash], now + 5)).toBeNull()
    expect(await findByHash('registration', [token.tokenHash], now + 4)).toEqual(token)
  })

  test('the live tokens for an address are listed newest first', async () => {
    const { store } = current()
    const first = await keptToken(store, aRegistration(email))
    const older = await keptToken(store, aRegistration(email, { createdAt: now - 60 }))
    const second = await keptToken(store, aRegistration(email))
    const expiring = await keptToken(store, aRegistration(email, { createdAt: now - 90, expiresAt: now + 5 }))
    const { listByEmail } = store.oneTimeTokens
    expect(await listByEmail('registration', email, now)).toEqual([second, first, older, expiring])
    expect(await listByEmail('registration', email, now + 5)).toEqual([second, first, older])
    expect(await listByEmail('email_verification', email, now)).toEqual([])
  })
}

function guessingContract(current: () => TestStore): void {
  test('of many guesses at once exactly as many count as are allowed', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email))
    const counted = await atOnce(() => store.oneTimeTokens.countTry(token.id, 5))
    expect(counted.filter(Boolean)).toHaveLength(5)
    expect((await store.oneTimeTokens.listByEmail('registration', email, now))[0]?.tries).toBe(5)
  })

  test('a guess at a token that is gone does not count', async () => {
    expect(await current().store.oneTimeTokens.countTry('unknown', 5)).toBe(false)
  })
}

function renewingContract(current: () => TestStore): void {
  const secrets = { tokenHash: 'key2.new-token', codeHash: 'key2.new-code', expiresAt: now + 1_000 }
  const asked = () => anEvent({ event: 'verification_requested' })

  test('a renewed token has new secrets, a new end, a new mail and all its guesses; the old link is dead', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email))
    await store.oneTimeTokens.countTry(token.id, 5)
    const [mail, audit] = [aMail(), asked()]
    expect(await store.oneTimeTokens.renew(token.id, secrets, mail, { now, audit })).toBe(true)
    expect(await store.oneTimeTokens.findByHash('registration', [token.tokenHash], now)).toBeNull()
    expect(await store.oneTimeTokens.findByHash('registration', ['key2.new-token'], now)).toEqual({
      ...token,
      ...secrets,
      tries: 0,
    })
    expect(await waitingMails(store)).toContain(mail.id)
    expect(await store.audit.list({ event: 'verification_requested', limit: 10 })).toEqual([audit])
  })

  test('a token that is gone or expired is not renewed, and nothing is mailed or audited', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email, { expiresAt: now + 5 }))
    const [mail, audit] = [aMail(), asked()]
    expect(await store.oneTimeTokens.renew('unknown', secrets, mail, { now, audit })).toBe(false)
    expect(await store.oneTimeTokens.renew(token.id, secrets, mail, { now: now + 5, audit })).toBe(false)
    expect(await store.oneTimeTokens.listByEmail('registration', email, now)).toEqual([token])
    expect(await waitingMails(store)).not.toContain(mail.id)
    expect(await store.audit.list({ event: 'verification_requested', limit: 10 })).toEqual([])
  })
}

function claimingContract(current: () => TestStore): void {
  test('a claimed token goes on as something else, without what was sealed in it', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email, { purpose: 'oauth_state' }))
    expect(await store.oneTimeTokens.claim(token.id, 'oauth_state', 'oauth_landed', now)).toBe(true)
    expect(await store.oneTimeTokens.findByHash('oauth_state', [token.tokenHash], now)).toBeNull()
    const claimed = { ...token, purpose: 'oauth_landed', payload: null }
    expect(await store.oneTimeTokens.findByHash('oauth_landed', [token.tokenHash], now)).toEqual(claimed)

    await store.oneTimeTokens.note(token.id, 'key1.landing')
    await store.oneTimeTokens.note('unknown', 'key1.nowhere')
    const noted = { ...claimed, payload: 'key1.landing' }
    expect(await store.oneTimeTokens.findByHash('oauth_landed', [token.tokenHash], now)).toEqual(noted)
  })

  test('a token that is gone, expired, claimed before or of another purpose is not claimed', async () => {
    const { store } = current()
    const state = await keptToken(store, aRegistration(email, { purpose: 'oauth_state', expiresAt: now + 5 }))
    const other = await keptToken(store, aRegistration(email))
    const claim = (id: string, at = now) => store.oneTimeTokens.claim(id, 'oauth_state', 'oauth_landed', at)
    expect(await claim('unknown')).toBe(false)
    expect(await claim(other.id)).toBe(false)
    expect(await claim(state.id, now + 5)).toBe(false)
    expect(await store.oneTimeTokens.findByHash('registration', [other.tokenHash], now)).toEqual(other)
    expect(await store.oneTimeTokens.findByHash('oauth_state', [state.tokenHash], now)).toEqual(state)
    expect(await claim(state.id)).toBe(true)
    expect(await claim(state.id)).toBe(false)
  })

  test('of many that claim one token at once, exactly one does', async () => {
    const { store } = current()
    const token = await keptToken(store, aRegistration(email, { purpose: 'oauth_state' }))
    const claims = await atOnce(() => store.oneTimeTokens.claim(token.id, 'oauth_state', 'oauth_landed', now))
    expect(claims.filter(Boolean)).toHaveLength(1)
  })
}

function resealingContract(current: () => TestStore): void {
  const device = (tries = 1) =>
    keptToken(current().store, aRegistration(email, { purpose: 'device', tries, expiresAt: now + 5 }))
  const find = async () => (await current().store.oneTimeTokens.listByEmail('device', email, now))[0]
  const reseal = (id: string, { tries = 1, at = now, approve = true } = {}) => {
    const audit = anEvent({ event: approve ? 'device_approved' : 'device_denied' })
    const payload = approve ? 'key1.yes' : 'key1.no'
    return current().store.oneTimeTokens.reseal(id, payload, { purpose: 'device', tries, now: at, audit })
  }

  test('a resealed token has its new payload, one try more and its event', async () => {
    const token = await device(0)
    const { store } = current()
    const options = { purpose: 'device', tries: 0, now } as const
    expect(await store.oneTimeTokens.reseal(token.id, 'key1.looked-up', options)).toBe(true)
    expect(await auditedEvents(store)).toEqual([])
    expect(await reseal(token.id)).toBe(true)
    expect(await find()).toEqual({ ...token, payload: 'key1.yes', tries: 2 })
    expect(await auditedEvents(store)).toEqual(['device_approved'])
  })

  test('a token that is gone, expired, of another purpose or seen before its last change is not resealed', async () => {
    const { store } = current()
    const token = await device()
    const other = await keptToken(store, aRegistration(email, { tries: 1 }))
    expect(await reseal('unknown')).toBe(false)
    expect(await reseal(other.id)).toBe(false)
    expect(await reseal(token.id, { at: now + 5 })).toBe(false)
    expect(await reseal(token.id, { tries: 0 })).toBe(false)
    expect(await reseal(token.id, { tries: 2 })).toBe(false)
    expect(await find()).toEqual(token)
    expect(await auditedEvents(store)).toEqual([])
  })

  test('of an approval and many denials at once exactly one counts, with its own payload and event', async () => {
    const { store } = current()
    const token = await device()
    const counted = await atOnce((index) => reseal(token.id, { approve: index % 2 === 0 }))
    expect(counted.filter(Boolean)).toHaveLength(1)
    const approved = counted.indexOf(true) % 2 === 0
    expect(await find()).toEqual({ ...token, payload: approved ? 'key1.yes' : 'key1.no', tries: 2 })
    expect(await auditedEvents(store)).toEqual([approved ? 'device_approved' : 'device_denied'])
  })
}

function pruningContract(current: () => TestStore): void {
  test('expired tokens are dropped, the longest expired first and no more than asked for', async () => {
    const { store } = current()
    for (const end of [3, 1, 2, 9]) await keptToken(store, aRegistration(email, { expiresAt: now + end }))
    const ends = async () => {
      const live = await store.oneTimeTokens.listByEmail('registration', email, now)
      return live.map(({ expiresAt }) => expiresAt - now).sort()
    }
    expect(await store.oneTimeTokens.prune(now + 3, 2)).toBe(2)
    expect(await ends()).toEqual([3, 9])
    expect(await store.oneTimeTokens.prune(now + 3, 10)).toBe(1)
    expect(await store.oneTimeTokens.prune(now + 3, 10)).toBe(0)
    expect(await ends()).toEqual([9])
  })
}
