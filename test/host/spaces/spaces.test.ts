import { access, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deploy } from '../../../src/host/flows/spaces/deploy.js'
import { fillDirectory } from '../../../src/host/flows/spaces/find-space.js'
import {
  createSpace,
  listSpaces,
  readSpace,
  removeSpace,
  sweepRemovedSpaces,
} from '../../../src/host/flows/spaces/spaces.js'
import { keptApiToken } from '../../contracts/store/api-tokens.js'
import { admin, archiveWith, hostFolder, openProcess, type SpaceProcess } from '../../support/space-world.js'

const create = ({ ports }: SpaceProcess, name: string) => createSpace(ports, { name, visitor: admin })
const remove = ({ ports }: SpaceProcess, name: string, confirm = name) =>
  removeSpace(ports, { name, confirm, visitor: admin })
const deployed = async ({ ports }: SpaceProcess, space: string) =>
  deploy(ports, { space, archive: await archiveWith('first'), dirty: null, visitor: admin }, () => {})

test('a space is created with its address, and nothing is deployed in it', async () => {
  const process = await openProcess(await hostFolder())
  const space = await create(process, 'dev')
  expect(space).toEqual({
    id: expect.stringMatching(/^[\w-]{22}$/),
    name: 'dev',
    url: 'https://api.example.org/dev',
    createdAt: '2023-11-14T22:13:20.000Z',
    release: null,
    state: 'stopped',
    memoryBytes: 0,
    restarts: 0,
    requests: 0,
    busyWith: null,
    busyBy: null,
    busySince: null,
  })
  expect(await readSpace(process.ports, 'dev')).toEqual(space)
  await expect(create(process, 'dev')).rejects.toMatchObject({ code: 'space_exists' })
  await expect(readSpace(process.ports, 'prod')).rejects.toMatchObject({ code: 'space_not_found' })
  const [event] = await process.store.audit.list({ limit: 1 })
  expect(event).toMatchObject({ event: 'space_created', detail: { space: 'dev', spaceId: space.id } })
})

test('names of spaces are lower-case words, and none is the host’s', async () => {
  const process = await openProcess(await hostFolder())
  for (const name of ['', 'health', 'host', 'Dev', '1a', '-a', 'a_b', 'a/b', 'a.b', '..', `${'a'.repeat(32)}`, 'a\n']) {
    await expect(create(process, name), name).rejects.toMatchObject({ code: 'invalid_request' })
  }
  for (const name of ['a', 'hosts', 'a-1', 'a'.repeat(31)]) await create(process, name)
})

test('spaces are listed by name, page by page, each with what runs in it', async () => {
  const process = await openProcess(await hostFolder())
  for (const name of ['prod', 'dev', 'test']) await create(process, name)
  await deployed(process, 'dev')
  const first = await listSpaces(process.ports, { limit: 2 })
  expect(first.items.map(({ name, release, state }) => [name, release, state])).toEqual([
    ['dev', 1, 'ready'],
    ['prod', null, 'stopped'],
  ])
  expect(await listSpaces(process.ports, { limit: 2, cursor: first.nextCursor ?? '' })).toMatchObject({
    items: [{ name: 'test' }],
    nextCursor: null,
  })
})

test('ATK-150 a removed space is gone at once: address, child, tokens, settings and files', async () => {
  const host = await hostFolder()
  const process = await openProcess(host)
  const { store, ports, nouns, changes } = process
  const { id } = await create(process, 'dev')
  await deployed(process, 'dev')
  await writeFile(join(host.path, 'spaces', id, 'g1.db'), 'data')
  const token = await keptApiToken(store.at(id))
  await expect(remove(process, 'dev', 'prod')).rejects.toMatchObject({ code: 'invalid_request' })
  expect(ports.directory.find('dev')?.id).toBe(id)

  await remove(process, 'dev')
  expect(await store.at(id).apiTokens.findByHash([token.tokenHash])).toBeNull()
  expect(changes.map(({ subject }) => subject)).toContain(`${id}/${token.id}`)
  expect([ports.directory.find('dev'), ports.directory.isSpace('dev')]).toEqual([null, false])
  expect(ports.children.running.size).toBe(0)
  expect(await readdir(join(host.path, 'spaces'))).toEqual([])
  expect(await nouns.spaces.removed()).toEqual([])
  await expect(remove(process, 'dev')).rejects.toMatchObject({ code: 'space_not_found' })

  const again = await create(process, 'dev')
  expect(again.id).not.toBe(id)
  expect(ports.directory.find('dev')).toBeNull()
})

test('ATK-192 a space that is being changed is not removed', async () => {
  const process = await openProcess(await hostFolder())
  const { id } = await create(process, 'dev')
  await process.nouns.claims.take(id, 'env', 60_000, admin.actor)
  await expect(remove(process, 'dev')).rejects.toMatchObject({
    code: 'space_busy',
    message:
      'A change of the environment of this space by ann@example.org is under way since 2023-11-14T22:13:20.000Z. Try again when it has ended, or take it over.',
  })
})

test('files of a removed space that are left go at the next start, those of an unknown one stay', async () => {
  const host = await hostFolder()
  const process = await openProcess(host)
  const { id } = await create(process, 'dev')
  const { files } = process.ports
  const failing = { ...files, remove: () => Promise.reject(new Error('EBUSY')) }
  await files.releases(id)
  // As after a start with an older host.db.
  await mkdir(join(host.path, 'spaces', 'newer'))
  await removeSpace({ ...process.ports, files: failing }, { name: 'dev', confirm: 'dev', visitor: admin })
  await access(join(host.path, 'spaces', id))
  await sweepRemovedSpaces((await openProcess(host)).ports)
  expect(await readdir(join(host.path, 'spaces'))).toEqual(['newer'])
})

test('the directory is filled from the store, and finds what is deployed by its exact name', async () => {
  const host = await hostFolder()
  const process = await openProcess(host)
  const { id } = await create(process, 'dev')
  await create(process, 'prod')
  await deployed(process, 'dev')
  const { ports } = await openProcess(host)
  expect((await fillDirectory(ports)).filter(({ release }) => release !== null)).toMatchObject([{ id }])
  const { directory } = ports
  expect(directory.find('dev')).toBe(directory.find('dev'))
  expect(directory.find('dev')).toMatchObject({ id, name: 'dev' })
  expect(['prod', 'DEV', 'dev ', 'constructor'].map((name) => directory.find(name))).toEqual([null, null, null, null])
  expect(['dev', 'prod', 'Dev'].map((name) => directory.isSpace(name))).toEqual([true, true, false])
})
