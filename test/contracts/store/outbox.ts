import { expect, test } from 'vitest'
import { decoyTemplate, type LeasedMail, type QueuedMail } from '../../../src/model/outbox-mail.js'
import type { Store } from '../../../src/store/store.js'
import type { TestStore } from '../../support/databases.js'
import { aMail, anEvent, atOnce, auditedEvents, crowd, now } from './rows.js'

export function outboxContract(current: () => TestStore): void {
  leasingContract(current)
  settlingContract(current)
  listingContract(current)
  changingContract(current)
  pruningContract(current)
}

function leasingContract(current: () => TestStore): void {
  test('a mail waits with its event until it is leased, every field as it was given', async () => {
    const { store, mailSignals } = current()
    const mail = aMail({ sealedValues: `key1.${'x'.repeat(100_000)}` })
    await store.outbox.put(mail, anEvent({ event: 'refresh_reissued' }))
    expect(mailSignals()).toBe(1)
    expect(await auditedEvents(store)).toEqual(['refresh_reissued'])
    expect(await store.outbox.lease(10, now, now + 60)).toEqual([{ ...mail, leaseId: expect.any(String), attempts: 0 }])
  })

  test('mails are leased oldest first, no more than asked for, and none before it is due', async () => {
    const { store } = current()
    const mails = [aMail(), aMail({ createdAt: now - 5 }), aMail(), aMail({ createdAt: now + 1 })]
    for (const mail of mails) await store.outbox.put(mail)
    const ids = async (count: number) => (await store.outbox.lease(count, now, now + 60)).map(({ id }) => id)
    expect(await ids(2)).toEqual([mails[1]?.id, mails[0]?.id])
    expect(await ids(10)).toEqual([mails[2]?.id])
    expect(await ids(10)).toEqual([])
  })

  test('a lease that ran out may be taken over', async () => {
    const { store } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    await store.outbox.lease(1, now, now + 60)
    expect(await store.outbox.lease(1, now + 59, now + 120)).toEqual([])
    expect(await store.outbox.lease(1, now + 60, now + 120)).toEqual([
      { ...mail, leaseId: expect.any(String), attempts: 0 },
    ])
    expect(await store.outbox.lease(1, now + 61, now + 120)).toEqual([])
  })

  test('of many workers at once no two get the same mail, and none is left over', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const mails = Array.from({ length: crowd }, () => aMail())
    for (const mail of mails) await store.outbox.put(mail)
    const worker = async (index: number) => {
      const { outbox } = index % 2 === 0 ? store : second
      const mine: string[] = []
      for (let round = 0; round < crowd; round += 1) {
        mine.push(...(await outbox.lease(3, now, now + 60)).map(({ id }) => id))
      }
      return mine
    }
    const leased = (await atOnce(worker, 4)).flat()
    expect(leased.sort()).toEqual(mails.map(({ id }) => id).sort())
  })
}

function settlingContract(current: () => TestStore): void {
  test('a sent mail is forgotten', async () => {
    const { store } = current()
    await store.outbox.put(aMail())
    const lease = await leased(store)
    expect(await store.outbox.sent(lease)).toBe(true)
    expect(await store.outbox.sent(lease)).toBe(false)
    expect(await store.outbox.lease(10, now + 1_000, now + 2_000)).toEqual([])
    expect(await store.outbox.depth()).toEqual({ waiting: 0, oldestAt: null, setAside: 0 })
  })

  test('a failed mail is due again at its time, with the attempt counted, whatever its lease says', async () => {
    const { store } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    const lease = await leased(store, now + 1_000)
    expect(await store.outbox.failed(lease, 'ESOCKET', now + 30)).toBe(true)
    expect(await store.outbox.lease(1, now + 29, now + 1_000)).toEqual([])
    expect(await store.outbox.lease(1, now + 30, now + 1_000)).toMatchObject([{ ...mail, attempts: 1 }])
  })

  test('a mail that is set aside is never due again', async () => {
    const { store } = current()
    await store.outbox.put(aMail())
    expect(await store.outbox.failed(await leased(store), 'EENVELOPE', null)).toBe(true)
    expect(await store.outbox.lease(1, now + 1_000_000, now + 2_000_000)).toEqual([])
    expect(await store.outbox.depth()).toEqual({ waiting: 0, oldestAt: null, setAside: 1 })
  })

  test('a worker whose lease was taken over settles nothing, however it went', async () => {
    const { store } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    const former = await leased(store, now + 60)
    const [next] = await store.outbox.lease(1, now + 60, now + 120)
    expect(await store.outbox.failed(former, 'ESOCKET', null)).toBe(false)
    expect(await store.outbox.sent(former)).toBe(false)
    expect(await store.outbox.depth()).toEqual({ waiting: 1, oldestAt: now, setAside: 0 })
    expect(next && (await store.outbox.failed(next, 'ESOCKET', now + 61))).toBe(true)
    expect(await store.outbox.failed(former, 'ESOCKET', null)).toBe(false)
    expect(await store.outbox.lease(1, now + 61, now + 120)).toMatchObject([{ ...mail, attempts: 1 }])
  })

  test('a lease that has run out counts until somebody takes it over', async () => {
    const { store } = current()
    await store.outbox.put(aMail())
    const lease = await leased(store, now + 1)
    expect(await store.outbox.sent(lease)).toBe(true)
  })

  test('of many who settle one lease at once, exactly one does', async () => {
    const { store } = current()
    await store.outbox.put(aMail())
    const lease = await leased(store)
    const settle = (index: number) =>
      index % 2 === 0 ? store.outbox.sent(lease) : store.outbox.failed(lease, 'ESOCKET', now + 30)
    expect((await atOnce(settle)).filter(Boolean)).toHaveLength(1)
  })

  test('the depth tells how many wait, leased ones too, and since when', async () => {
    const { store } = current()
    expect(await store.outbox.depth()).toEqual({ waiting: 0, oldestAt: null, setAside: 0 })
    await store.outbox.put(aMail({ createdAt: now - 7 }))
    await store.outbox.put(aMail())
    await store.outbox.lease(1, now, now + 60)
    expect(await store.outbox.depth()).toEqual({ waiting: 2, oldestAt: now - 7, setAside: 0 })
  })
}

function listingContract(current: () => TestStore): void {
  test('mails are listed newest first, without their values, as waiting or set aside', async () => {
    const { outbox } = current().store
    const [refused, failed, fresh] = [aMail({ createdAt: now - 2 }), aMail({ createdAt: now - 1 }), aMail()]
    for (const mail of [refused, failed, fresh]) await outbox.put(mail)
    await outbox.put(aMail({ template: decoyTemplate }))
    for (const [reason, at] of [
      ['EENVELOPE', null],
      ['ESOCKET', now + 30],
    ] as const) {
      const [mail] = await outbox.lease(1, now, now + 60)
      if (mail) await outbox.failed(mail, reason, at)
    }
    const { recipient, template } = fresh
    const expected = [
      { id: fresh.id, createdAt: now, state: 'waiting', attempts: 0, nextAttemptAt: now, lastReason: null },
      {
        id: failed.id,
        createdAt: now - 1,
        state: 'waiting',
        attempts: 1,
        nextAttemptAt: now + 30,
        lastReason: 'ESOCKET',
      },
      {
        id: refused.id,
        createdAt: now - 2,
        state: 'set_aside',
        attempts: 1,
        nextAttemptAt: null,
        lastReason: 'EENVELOPE',
      },
    ].map((mail) => ({ ...mail, recipient, template }))
    expect(await outbox.list({ after: null, limit: 10 })).toEqual(expected)
    expect(await outbox.list({ state: 'waiting', after: null, limit: 10 })).toEqual(expected.slice(0, 2))
    expect(await outbox.list({ state: 'set_aside', after: null, limit: 10 })).toEqual(expected.slice(2))
    expect(await outbox.find(refused.id)).toEqual(expected[2])
    expect(await outbox.find('unknown')).toBeNull()
  })

  test('the list of mails goes on page after page, each once, also within one second', async () => {
    const { outbox } = current().store
    const mails = [now, now - 1, now, now, now - 1].map((createdAt) => aMail({ createdAt }))
    for (const mail of mails) await outbox.put(mail)
    const paged: QueuedMail[] = []
    for (let after: QueuedMail | null = null; ; ) {
      const [next]: QueuedMail[] = await outbox.list({ state: 'waiting', after, limit: 1 })
      if (!next) break
      paged.push(next)
      after = next
    }
    expect(paged).toEqual(await outbox.list({ after: null, limit: 10 }))
    expect(paged.map(({ createdAt }) => createdAt)).toEqual([now, now, now, now - 1, now - 1])
    expect(paged.map(({ id }) => id).sort()).toEqual(mails.map(({ id }) => id).sort())
  })
}

function changingContract(current: () => TestStore): void {
  test.each([
    ['waits for another attempt', now + 500],
    ['was set aside', null],
  ])('a mail that %s is due again after a retry, which is audited and wakes the worker', async (_name, nextAt) => {
    const { store, mailSignals } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    await store.outbox.failed(await leased(store), 'ESOCKET', nextAt)
    expect(await store.outbox.retry(mail.id, now + 1, anEvent({ event: 'mail_retried' }))).toBe(true)
    expect(await store.outbox.find(mail.id)).toMatchObject({ state: 'waiting', nextAttemptAt: now + 1, attempts: 1 })
    expect([mailSignals(), await auditedEvents(store)]).toEqual([2, ['mail_retried']])
    expect(await store.outbox.lease(1, now + 1, now + 60)).toMatchObject([{ ...mail, attempts: 1 }])
  })

  test('a retry of a mail that is due or being sent changes nothing and is not audited', async () => {
    const { store, mailSignals } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    const retry = () => store.outbox.retry(mail.id, now, anEvent({ event: 'mail_retried' }))
    expect(await retry()).toBe(true)
    const lease = await leased(store)
    expect(await retry()).toBe(true)
    expect(await store.outbox.lease(1, now, now + 60)).toEqual([])
    expect(await store.outbox.sent(lease)).toBe(true)
    expect([mailSignals(), await auditedEvents(store)]).toEqual([1, []])
  })

  test('a mail that is not there is neither retried nor dropped, and nothing is audited', async () => {
    const { store } = current()
    expect(await store.outbox.retry('unknown', now, anEvent())).toBe(false)
    expect(await store.outbox.drop('unknown', anEvent())).toBe(false)
    expect(await auditedEvents(store)).toEqual([])
  })

  test('a dropped mail is gone for the worker that was sending it, too', async () => {
    const { store } = current()
    const [mail, other] = [aMail(), aMail({ createdAt: now + 1 })]
    for (const each of [mail, other]) await store.outbox.put(each)
    const lease = await leased(store)
    expect(await store.outbox.drop(mail.id, anEvent({ event: 'mail_dropped' }))).toBe(true)
    expect(await store.outbox.failed(lease, 'ESOCKET', now + 30)).toBe(false)
    expect(await store.outbox.sent(lease)).toBe(false)
    expect(await store.outbox.list({ after: null, limit: 10 })).toMatchObject([{ id: other.id }])
    expect(await auditedEvents(store)).toEqual(['mail_dropped'])
  })

  test('of many who drop one mail at once, exactly one does', async () => {
    const { store } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    const results = await atOnce(() => store.outbox.drop(mail.id, anEvent({ event: 'mail_dropped' })))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await auditedEvents(store)).toEqual(['mail_dropped'])
  })

  test('of many who retry one mail at once, exactly one is audited', async () => {
    const { store } = current()
    const mail = aMail()
    await store.outbox.put(mail)
    await store.outbox.failed(await leased(store), 'EENVELOPE', null)
    const results = await atOnce(() => store.outbox.retry(mail.id, now, anEvent({ event: 'mail_retried' })))
    expect(results).toEqual(results.map(() => true))
    expect(await auditedEvents(store)).toEqual(['mail_retried'])
  })
}

function pruningContract(current: () => TestStore): void {
  test('old mails that were set aside are forgotten, no more than asked for, and none that waits', async () => {
    const { store } = current()
    const [old, older, young] = [aMail({ createdAt: now - 50 }), aMail({ createdAt: now - 51 }), aMail()]
    for (const mail of [old, older, young]) await store.outbox.put(mail)
    for (const lease of await store.outbox.lease(3, now, now + 60)) await store.outbox.failed(lease, 'EENVELOPE', null)
    await store.outbox.put(aMail({ createdAt: now - 60 }))
    expect(await store.outbox.prune(now - 50, 10)).toBe(1)
    expect(await store.outbox.depth()).toMatchObject({ waiting: 1, setAside: 2 })
    expect(await store.outbox.prune(now + 1, 1)).toBe(1)
    expect(await store.outbox.prune(now + 1, 10)).toBe(1)
    expect(await store.outbox.prune(now + 1, 10)).toBe(0)
    expect(await store.outbox.depth()).toMatchObject({ waiting: 1, setAside: 0 })
  })
}

/** The one mail that is due. */
async function leased(store: Store, leaseUntil = now + 60): Promise<LeasedMail> {
  const [mail] = await store.outbox.lease(1, now, leaseUntil)
  if (!mail) throw new Error('No mail is due.')
  return mail
}
