import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'

const fast = { name: '$argon2id$v=19$m=19456,t=2,p=1', milliseconds: 13 }
const slow = { name: '$2b$12', milliseconds: 287 }

export function hashKindsContract(current: () => TestStore): void {
  test('nothing is known of hashes in a new store', async () => {
    expect(await current().store.hashKinds.slowest()).toBeNull()
  })

  test('the slowest kind stays, whatever is noted after it, and every process knows it', async () => {
    const { store, openSecond } = current()
    for (const kind of [fast, slow, fast, { ...slow, name: 'as slow' }]) await store.hashKinds.note(kind)
    expect(await store.hashKinds.slowest()).toEqual(slow)
    const second = await openSecond?.()
    if (second) expect(await second.hashKinds.slowest()).toEqual(slow)
  })

  test('an estimate is kept in whole milliseconds', async () => {
    const { hashKinds } = current().store
    await hashKinds.note({ ...slow, milliseconds: 286.72 })
    expect(await hashKinds.slowest()).toEqual(slow)
  })

  test('of twenty that are noted at once the slowest stays', async () => {
    const { hashKinds } = current().store
    const kinds = Array.from({ length: 20 }, (_, index) => ({
      name: `kind ${index}`,
      milliseconds: ((index * 7) % 20) + 1,
    }))
    await Promise.all(kinds.map((kind) => hashKinds.note(kind)))
    expect(await hashKinds.slowest()).toEqual(kinds.find(({ milliseconds }) => milliseconds === 20))
  })
}
