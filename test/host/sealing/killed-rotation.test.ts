import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createMasterKeyFile } from '../../../src/host/sealing/master-key-file.js'
import { parseMasterKeys, wrappingKeyOf } from '../../../src/host/sealing/master-keys.js'
import { createSpaceKey, openSpaceKey } from '../../../src/host/sealing/space-keys.js'
import { hostExtension } from '../../../src/host/store/sql/host-extension.js'
import { openExtended } from '../../../src/store/sql/store.js'
import { anEvent, now } from '../../contracts/store/rows.js'
import { randomId, storeOptions } from '../../support/databases.js'
import { hostFolder } from '../../support/space-world.js'
import { bundleSource } from '../../support/storage-threads.js'

const rotation = fileURLToPath(new URL('../../support/killed-rotation.ts', import.meta.url))

async function openHost(folder: string) {
  const database = { kind: 'sqlite', file: join(folder, 'host.db') } as const
  return openExtended({ ...storeOptions(), database }, hostExtension)
}

/** A host's folder with three spaces, each with a sealed value. */
async function withSpaces() {
  const { path } = await hostFolder()
  const file = join(path, 'master.key')
  const keys = await createMasterKeyFile(file)
  if (keys === null) throw new Error('The file was there.')
  const { nouns, store } = await openHost(path)
  const setBy = { kind: 'user', userId: 'ann', sessionId: 's', impersonating: null } as const
  const ids = [randomId(), randomId(), randomId()]
  for (const [index, id] of ids.entries()) {
    const key = createSpaceKey(keys, id)
    const space = { id, name: `space${index}`, createdAt: now, dataKey: () => key.wrapped }
    await nouns.spaces.create(space, anEvent())
    const claim = await nouns.claims.take(id, 'env', 10_000)
    if (claim === null || 'heldFor' in claim) throw new Error('The claim is not free.')
    const variable = openSpaceKey(keys, key).seal('GREETING', 1, `good day ${index}`)
    await nouns.environment.set(claim, { ...variable, encrypted: true, setAt: now, setBy }, anEvent())
    await nouns.claims.release(claim)
  }
  await store.close()
  return { path, file, ids, former: keys.ids[0] }
}

/** What the values of all spaces are with the keys of the file, and which keys wrap. */
async function read({ path, file, ids }: Pick<Awaited<ReturnType<typeof withSpaces>>, 'path' | 'file' | 'ids'>) {
  const keys = parseMasterKeys(readFileSync(file, 'utf8'))
  const { nouns, store } = await openHost(path)
  const found = await Promise.all(ids.map((id) => nouns.environment.read(id)))
  await store.close()
  const values = found.flatMap((each) =>
    each === null ? [] : each.variables.map((variable) => openSpaceKey(keys, each.key).open(variable)),
  )
  return { keys, values, wrapping: new Set(found.map((each) => each && wrappingKeyOf(each.key.wrapped))) }
}

async function rotate(script: string, path: string, kind: string, point: string): Promise<string | null> {
  const child = spawn(process.execPath, [script, path, kind, point], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [, signal] = await once(child, 'exit')
  return signal
}

test('ATK-167 after kill -9 at any point of a rotation all values open, and the next one ends it', async () => {
  const { path } = await hostFolder()
  const script = join(path, 'rotation.mjs')
  writeFileSync(script, await bundleSource(`import ${JSON.stringify(rotation)}`))
  const values = ['good day 0', 'good day 1', 'good day 2']
  for (const [kind, point] of [
    ['usual', 'start'],
    ['usual', 'line'],
    ['usual', 'keys'],
    ['usual', 'end'],
    ['deep', 'line'],
    ['deep', 'key 1'],
    ['deep', 'key 3'],
    ['deep', 'end'],
  ] as const) {
    const host = await withSpaces()
    expect([kind, point, await rotate(script, host.path, kind, point)]).toEqual([kind, point, 'SIGKILL'])
    const killed = await read(host)
    expect([kind, point, killed.values]).toEqual([kind, point, values])
    // All of them changed, or none.
    const wrapping = point === 'end' ? killed.keys.ids[0] : host.former
    expect([kind, point, [...killed.wrapping]]).toEqual([kind, point, [wrapping]])

    expect(await rotate(script, host.path, kind, 'never')).toBe(null)
    // Only the first line is needed now.
    writeFileSync(host.file, `${readFileSync(host.file, 'utf8').split('\n')[0]}\n`)
    const ended = await read(host)
    expect(ended.values).toEqual(values)
    expect([...ended.wrapping]).toEqual([ended.keys.ids[0]])
    expect(ended.keys.ids[0]).not.toBe(host.former)
  }
})

test('ATK-167 a space that is made while keys rotate is wrapped again: its key is made inside the step', async () => {
  const { path } = await withSpaces()
  const { nouns, store } = await openHost(path)
  let rotating: Promise<number> = Promise.resolve(0)
  let seen: readonly string[] = []
  const id = randomId()
  const dataKey = () => {
    rotating = nouns.environment.rewrap((rows) => {
      seen = rows.map(({ space }) => space)
      return []
    }, anEvent())
    return 'former00.sealed'
  }
  await nouns.spaces.create({ id, name: 'made', createdAt: now, dataKey }, anEvent())
  await rotating
  expect(seen).toContain(id)
  await store.close()
})
