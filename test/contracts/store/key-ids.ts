import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import { atOnce, now } from './rows.js'

export function keyIdsContract(current: () => TestStore): void {
  test('a new store knows of no key that signed', async () => {
    expect(await current().store.keyIds.list()).toEqual([])
  })

  test('a key keeps the time of its first use, and every process knows it', async () => {
    const { store, openSecond } = current()
    for (const [kid, at] of [
      ['later', now + 5],
      ['first', now],
      ['later', now - 5],
    ] as const)
      await store.keyIds.note(kid, at)
    const known = [
      { kid: 'first', firstUsedAt: now },
      { kid: 'later', firstUsedAt: now + 5 },
    ]
    expect(await store.keyIds.list()).toEqual(known)
    const second = await openSecond?.()
    if (second) expect(await second.keyIds.list()).toEqual(known)
  })

  test('two ids that differ only in case are two keys', async () => {
    const { keyIds } = current().store
    await keyIds.note('aBcD_-09', now)
    await keyIds.note('AbCd_-09', now)
    expect((await keyIds.list()).map(({ kid }) => kid).sort()).toEqual(['AbCd_-09', 'aBcD_-09'])
  })

  test('of many that note one key at once each succeeds, and the key is there once', async () => {
    const { keyIds } = current().store
    await atOnce(() => keyIds.note('shared', now))
    expect(await keyIds.list()).toEqual([{ kid: 'shared', firstUsedAt: now }])
  })
}
