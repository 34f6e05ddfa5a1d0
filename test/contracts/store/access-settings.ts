import { expect, test } from 'vitest'
import type { TestStore } from '../../support/databases.js'
import { anEvent, atOnce } from './rows.js'

const any = () => true

export function accessSettingsContract(current: () => TestStore): void {
  const audited = async ({ store }: TestStore) => (await store.audit.list({ limit: 50 })).length
  const told = ({ changes }: TestStore) => changes.map(({ kind, subject }) => `${kind} ${subject}`)

  test('nothing is added in a new store', async () => {
    expect(await current().store.accessSettings.read()).toEqual({ jwksUrl: null, networks: [] })
  })

  test('networks are added and taken away, told of and written down with each change, and known to every process', async () => {
    const opened = current()
    const { accessSettings } = opened.store
    expect(await accessSettings.addNetwork('192.0.2.0/24', anEvent(), any)).toBe('changed')
    expect(await accessSettings.addNetwork('10.0.0.1', anEvent(), any)).toBe('changed')
    const second = await opened.openSecond?.()
    if (second) expect((await second.accessSettings.read()).networks).toEqual(['10.0.0.1', '192.0.2.0/24'])
    expect(await accessSettings.removeNetwork('192.0.2.0/24', anEvent(), any)).toBe('changed')
    expect(await accessSettings.read()).toEqual({ jwksUrl: null, networks: ['10.0.0.1'] })
    expect(told(opened)).toEqual(['setting allow_list', 'setting allow_list', 'setting allow_list'])
    expect((await opened.store.changes.recent(60_000)).changes).toHaveLength(3)
    expect(await audited(opened)).toBe(3)
  })

  test('what changes nothing is neither told of nor written down', async () => {
    const opened = current()
    const { accessSettings } = opened.store
    await accessSettings.addNetwork('10.0.0.1', anEvent(), any)
    await accessSettings.setJwksUrl('https://a.example.test/k', anEvent())
    expect(await accessSettings.addNetwork('10.0.0.1', anEvent(), any)).toBe('unchanged')
    expect(await accessSettings.removeNetwork('10.0.0.2', anEvent(), any)).toBe('unchanged')
    expect(await accessSettings.setJwksUrl('https://a.example.test/k', anEvent())).toBe(false)
    expect(opened.changes).toHaveLength(2)
    expect(await audited(opened)).toBe(2)
  })

  test('of twenty that add the same network at once, and of twenty that take it away, one does', async () => {
    const { accessSettings } = current().store
    const adding = await atOnce(() => accessSettings.addNetwork('10.0.0.1', anEvent(), any))
    expect(adding.filter((outcome) => outcome === 'changed')).toHaveLength(1)
    const removing = await atOnce(() => accessSettings.removeNetwork('10.0.0.1', anEvent(), any))
    expect(removing.filter((outcome) => outcome === 'changed')).toHaveLength(1)
  })

  test('a change that its check refuses writes nothing, and the check sees the list as concurrent changes leave it', async () => {
    const opened = current()
    const { accessSettings } = opened.store
    const keepsOne = (networks: readonly string[]) => networks.length > 0
    const all = Array.from({ length: 8 }, (_, index) => `10.0.0.${index + 1}`)
    for (const network of all) await accessSettings.addNetwork(network, anEvent(), any)
    const outcomes = await Promise.all(all.map((network) => accessSettings.removeNetwork(network, anEvent(), keepsOne)))
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(1)
    expect((await accessSettings.read()).networks).toHaveLength(1)
    expect(await accessSettings.addNetwork('192.0.2.1', anEvent(), () => false)).toBe('refused')
    expect(await audited(opened)).toBe(15)
  })

  test('the address of the key set is set, replaced and taken away', async () => {
    const opened = current()
    const { accessSettings } = opened.store
    const long = `https://a.example.test/${'k'.repeat(2000)}`
    for (const url of ['https://a.example.test/k', 'https://a.example.test/K', long, null]) {
      expect(await accessSettings.setJwksUrl(url, anEvent())).toBe(true)
      expect((await accessSettings.read()).jwksUrl).toBe(url)
    }
    expect(await accessSettings.setJwksUrl(null, anEvent())).toBe(false)
    expect(told(opened)).toEqual(Array.from({ length: 4 }, () => 'setting jwks'))
  })
}
