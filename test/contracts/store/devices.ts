import { expect, test } from 'vitest'
import type { Device } from '../../../src/model/device-approval.js'
import { randomId, type TestStore } from '../../support/databases.js'
import { anEvent, createdUser, now, until } from './rows.js'

function aDevice(userId: string, overrides: Partial<Device> = {}): Device {
  const id = randomId()
  return { id, userId, tokenHash: `key1.${id}-device`, createdAt: now, expiresAt: now + 1_000, ...overrides }
}

export function devicesContract(current: () => TestStore): void {
  test('a device is found by any of its digests, every field as it was given, until it expires', async () => {
    const { devices } = current().store
    const device = aDevice((await createdUser(current().store)).id)
    await devices.add(device, { keep: 3, now })
    expect(await devices.find(['key2.x', device.tokenHash], now)).toEqual(device)
    expect(await devices.find([device.tokenHash.toUpperCase()], now)).toBeNull()
    expect(await devices.find([], now)).toBeNull()
    expect(await devices.find([device.tokenHash], now + 1_000)).toBeNull()
  })

  test('a device that is renewed has a new digest and a new end', async () => {
    const { devices } = current().store
    const device = aDevice((await createdUser(current().store)).id)
    await devices.add(device, { keep: 3, now })
    await devices.renew(device.id, 'key2.new', now + 5_000)
    expect(await devices.find([device.tokenHash], now)).toBeNull()
    expect(await devices.find(['key2.new'], now + 4_999)).toEqual({
      ...device,
      tokenHash: 'key2.new',
      expiresAt: now + 5_000,
    })
    await devices.renew('unknown', 'key2.other', now + 5_000)
    expect(await devices.find(['key2.other'], now)).toBeNull()
  })

  test('beyond the limit the device goes that was not used for longest, and none of another user', async () => {
    const { store } = current()
    const [ada, grace] = [await createdUser(store), await createdUser(store)]
    const other = aDevice(grace.id)
    const [old, used, newest] = [aDevice(ada.id), aDevice(ada.id), aDevice(ada.id)]
    for (const device of [other, used, old]) await store.devices.add(device, { keep: 2, now })
    await store.devices.renew(used.id, used.tokenHash, now + 2_000)
    await store.devices.add(newest, { keep: 2, now })

    const found = [old, used, newest, other].map(
      async ({ tokenHash }) => (await store.devices.find([tokenHash], now))?.id,
    )
    expect(await Promise.all(found)).toEqual([undefined, used.id, newest.id, other.id])
  })

  test('an expired device goes when another is added, and takes no place', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const [expired, live] = [aDevice(user.id, { expiresAt: now + 5 }), aDevice(user.id)]
    await store.devices.add(expired, { keep: 2, now })
    await store.devices.add(live, { keep: 2, now })
    await store.devices.add(aDevice(user.id), { keep: 2, now: now + 5 })
    expect(await store.devices.find([expired.tokenHash], now)).toBeNull()
    expect(await store.devices.find([live.tokenHash], now)).not.toBeNull()
  })

  test('expired devices are forgotten, the longest expired first and no more than asked for', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const devices = [3, 1, 2, 9].map((end) => aDevice(user.id, { expiresAt: now + end }))
    for (const device of devices) await store.devices.add(device, { keep: 9, now })
    expect(await store.devices.prune(now + 3, 2)).toBe(2)
    const known = async () =>
      Promise.all(devices.map(async ({ tokenHash }) => (await store.devices.find([tokenHash], now)) !== null))
    expect(await known()).toEqual([true, false, false, true])
    expect(await store.devices.prune(now + 3, 10)).toBe(1)
    expect(await store.devices.prune(now + 3, 10)).toBe(0)
    expect(await known()).toEqual([false, false, false, true])
  })

  test('devices go with their user', async () => {
    const { store } = current()
    const user = await createdUser(store)
    const device = aDevice(user.id)
    await store.devices.add(device, { keep: 3, now })
    await store.users.delete(user.id, until, anEvent({ event: 'account_deleted' }))
    expect(await store.devices.find([device.tokenHash], now)).toBeNull()
  })
}
