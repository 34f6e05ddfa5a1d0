import { describe, expect, test } from 'vitest'
import { dropMail, readMailQueue, retryMail } from '../../../src/flows/control/read-mail-queue.js'
import { decoyTemplate } from '../../../src/model/outbox-mail.js'
import { aMail, now } from '../../contracts/store/rows.js'
import { admin, type ControlWorld, controlWorld } from '../../support/control-world.js'

/** A world with one mail that was set aside and one that waits for another attempt. */
async function queue(): Promise<ControlWorld & { refused: string; failed: string }> {
  const world = await controlWorld()
  const { outbox } = world.store
  const refused = aMail({ createdAt: now - 60, recipient: 'ada@example.test', template: 'verify-email' })
  const failed = aMail({ createdAt: now, recipient: 'grace@mail.example.test', template: 'otp' })
  for (const mail of [refused, failed]) await outbox.put(mail)
  for (const lease of await outbox.lease(2, now, now + 60)) {
    if (lease.id === refused.id) await outbox.failed(lease, 'EENVELOPE', null)
    else await outbox.failed(lease, 'ESOCKET', now + 3_600)
  }
  return { ...world, refused: refused.id, failed: failed.id }
}

describe('the mail queue', () => {
  test('shows template and domain of each mail, and never an address or a text', async () => {
    const { ports, refused, failed } = await queue()
    const { items, nextCursor } = await readMailQueue(ports, {})
    expect(items).toEqual([
      {
        id: failed,
        template: 'otp',
        domain: 'mail.example.test',
        state: 'waiting',
        attempts: 1,
        nextAt: '2023-11-14T23:13:20.000Z',
        lastReason: 'ESOCKET',
      },
      {
        id: refused,
        template: 'verify-email',
        domain: 'example.test',
        state: 'set_aside',
        attempts: 1,
        nextAt: null,
        lastReason: 'EENVELOPE',
      },
    ])
    expect(nextCursor).toBeNull()
    expect(JSON.stringify(items)).not.toMatch(/ada|grace|-values/)
  })

  test('is filtered by state and read page after page', async () => {
    const { ports, refused, failed } = await queue()
    expect((await readMailQueue(ports, { state: 'set_aside' })).items).toMatchObject([{ id: refused }])
    const page = await readMailQueue(ports, { limit: 1 })
    expect(page.items).toMatchObject([{ id: failed }])
    const rest = await readMailQueue(ports, { limit: 1, cursor: page.nextCursor ?? '' })
    expect(rest).toMatchObject({ items: [{ id: refused }], nextCursor: null })
    await expect(readMailQueue(ports, { cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('a mail that an administrator retries is due now, and the audit log records who did it', async () => {
    const { ports, store, refused } = await queue()
    await retryMail(ports, { id: refused, visitor: admin })
    expect(await store.outbox.lease(10, now, now + 60)).toMatchObject([{ id: refused }])
    const [event] = await store.audit.list({ limit: 1 })
    expect(event).toMatchObject({
      event: 'mail_retried',
      actor: admin.actor,
      ip: admin.ip,
      detail: { mailId: refused, template: 'verify-email' },
    })
  })

  test('a mail that an administrator drops is gone, and the audit log says which template it had', async () => {
    const { ports, store, failed, refused } = await queue()
    await dropMail(ports, { id: failed, visitor: admin })
    expect((await readMailQueue(ports, {})).items).toMatchObject([{ id: refused }])
    const events = await store.audit.list({ limit: 10 })
    expect(events).toMatchObject([{ event: 'mail_dropped', detail: { mailId: failed, template: 'otp' } }])
  })

  test('a mail that is gone, and one that is only a decoy, cannot be retried or dropped', async () => {
    const { ports, store } = await queue()
    const decoy = aMail({ template: decoyTemplate })
    await store.outbox.put(decoy)
    for (const id of ['unknown', decoy.id]) {
      await expect(retryMail(ports, { id, visitor: admin })).rejects.toMatchObject({ code: 'not_found' })
      await expect(dropMail(ports, { id, visitor: admin })).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await store.audit.list({ limit: 10 })).toEqual([])
  })
})
