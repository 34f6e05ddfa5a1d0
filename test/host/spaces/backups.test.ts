import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { auditEvent } from '../../../src/flows/steps/audit.js'
import {
  readBackupIndexes,
  readBackupManifest,
  readBackupSettings,
  readChecksums,
  signedText,
} from '../../../src/host/archives/backup-manifest.js'
import { isReadable } from '../../../src/host/archives/read-backup.js'
import { backUp } from '../../../src/host/flows/backups/backup.js'
import { exportCollection } from '../../../src/host/flows/backups/export.js'
import { setVariable } from '../../../src/host/flows/spaces/environment.js'
import { removeSpace } from '../../../src/host/flows/spaces/spaces.js'
import { newMasterKey, parseMasterKeys } from '../../../src/host/sealing/master-keys.js'
import { space } from '../../support/backup-process.js'
import { backupWorld } from '../../support/backup-world.js'
import { admin } from '../../support/space-world.js'

async function linesOf(exported: AsyncIterable<string | object>): Promise<string> {
  let text = ''
  for await (const line of exported) text += typeof line === 'string' ? line : JSON.stringify(line)
  return text
}

/** Unpacked by the system's tar. */
async function unpacked(archive: AsyncIterable<Uint8Array>) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-backup-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'backup.tar.gz')
  const bytes = await buffer(archive)
  await writeFile(file, bytes)
  const names = execFileSync('tar', ['tzf', file], { encoding: 'utf8' }).trim().split('\n')
  execFileSync('tar', ['xzf', file, '-C', folder])
  return { bytes, names, read: (name: string) => readFile(join(folder, name), 'utf8') }
}

test('an export has the stored texts in _id order and their count, and is recorded', async () => {
  const { ports, data, store } = await backupWorld()
  await data.documents.put('notes', 'b', '{"_id":"b", "n": 1.0}', 'any')
  await data.documents.put('notes', 'a', '{"_id":"a",\n"t":"\\n"}', 'any')
  const lines = await exportCollection(ports, { space, collection: 'notes', visitor: admin })
  await data.documents.put('notes', 'c', '{"_id":"c"}', 'any')
  expect(await linesOf(lines)).toBe('{"_id":"a", "t":"\\n"}\n{"_id":"b", "n": 1.0}\n{"end":{"count":2}}')
  const events = await store.audit.list({ event: 'data_exported', limit: 10 })
  expect(JSON.stringify(events)).toContain('"collection":"notes"')

  await data.documents.put('latchkey_users', 'x', '{"_id":"x"}', 'any')
  for (const collection of ['none', 'latchkey_users', '_hidden', '']) {
    await expect(exportCollection(ports, { space, collection, visitor: admin })).rejects.toMatchObject({
      code: 'not_found',
    })
  }
})

test('a reader of an export that leaves frees its snapshot', async () => {
  const { ports, data } = await backupWorld()
  await data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
  for (let round = 0; round < 10; round += 1) {
    const lines = await exportCollection(ports, { space, collection: 'notes', visitor: admin })
    await lines[Symbol.asyncIterator]().return?.()
  }
})

test('ATK-166 a backup has everything of a space, no readable secret, and true checksums', async () => {
  const { ports, data, id } = await backupWorld()
  const variable = { name: 'SECRET', value: 'hidden from everyone', encrypted: true }
  await setVariable(ports, { space, variable, visitor: admin })
  await data.documents.put('notes', 'a', '{"_id":"a","text":"öl"}', 'any')
  await data.documents.put('latchkey_users', 'u', '{"_id":"u"}', 'any')
  await data.indexes.create('notes', 'text', true)
  await data.indexes.build('notes', 'text')
  // It may still find duplicates, and would then keep the backup from being restored.
  await data.indexes.create('notes', 'building', true)
  await data.keyValues.set({ keyspace: '', key: 'k' }, '1', null)
  const { archive, time } = await backUp(ports, { space, visitor: admin })
  const { bytes, names, read } = await unpacked(archive)
  expect(names).toEqual([
    'manifest.json',
    'collections/1.jsonl',
    'collections/2.jsonl',
    'indexes.json',
    'kv.jsonl',
    'release/release.json',
    'release/bundle.mjs',
    'release/bundle.mjs.map',
    'release/assets/public/index.html',
    'release/assets/public/empty.txt',
    'settings.json',
    'checksums.json',
  ])
  expect(JSON.parse(await read('manifest.json'))).toMatchObject({
    ...{ format: 1, space: { id, name: space }, time, release: 1, pairs: 1 },
    collections: [
      { name: 'latchkey_users', count: 1 },
      { name: 'notes', count: 1 },
    ],
  })
  expect(await read('collections/2.jsonl')).toBe('{"_id":"a","text":"öl"}\n')
  expect(JSON.parse(await read('indexes.json'))).toEqual({
    indexes: [{ collection: 'notes', field: 'text', unique: true }],
  })
  expect(await read('kv.jsonl')).toBe('{"keyspace":"","key":"k","value":"1","endsAt":null}\n')
  expect(await read('release/bundle.mjs')).toBe('first')
  for (const { path, sha256 } of JSON.parse(await read('checksums.json')).entries) {
    expect([
      path,
      createHash('sha256')
        .update(await read(path))
        .digest('hex'),
    ]).toEqual([path, sha256])
  }
  const indexes = readBackupIndexes(await read('indexes.json'))
  expect(indexes).toEqual([{ collection: 'notes', field: 'text', unique: true }])
  expect(readBackupManifest(await read('manifest.json'))).toMatchObject({ installation: ports.signer.sign('').keyId })
  expect(readBackupSettings(await read('settings.json'))).toMatchObject({
    ...{ jwks: null, networks: [], apiTokens: [] },
    environment: [{ name: 'SECRET', version: 1, encrypted: true }],
  })

  const sums = readChecksums(await read('checksums.json'))
  const { entries, signature } = sums ?? { entries: [], signature: { keyId: '', mac: '' } }
  expect(entries.map(({ path }) => path)).toEqual(names.slice(0, -1))
  expect(ports.signer.verify(signedText(entries), signature)).toBe('valid')
  expect(ports.signer.verify(signedText(entries.slice(1)), signature)).toBe('wrong')
  expect(parseMasterKeys(newMasterKey()).verify(signedText(entries), signature)).toBe('foreign')
  for (const encoding of ['utf8', 'base64', 'hex'] as const) {
    const hidden = Buffer.from(variable.value).toString(encoding)
    for (const name of names) expect(await read(name)).not.toContain(hidden)
  }
  expect(await ports.backups.list(id)).toMatchObject([
    { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), madeBy: admin.actor },
  ])
})

test('a document that was stored under another _id cuts a backup off, and it is not listed', async () => {
  const { ports, data, id } = await backupWorld()
  for (const body of [
    '{"_id":"b"}',
    '{"_id":"a","_id":"b"}',
    '{"_id":"a","_id" :"b"}',
    '{"_id":"a","\\u005fid":"b"}',
  ]) {
    await data.documents.put('notes', 'a', body, 'any')
    const { archive } = await backUp(ports, { space, visitor: admin })
    await expect(buffer(archive)).rejects.toThrow('under another _id')
  }
  expect(await ports.backups.list(id)).toEqual([])
})

test('all the indexes and tens of thousands of API tokens can be read again, and more is refused before', () => {
  const index = { collection: 'a-collection-of-forty-characters-in-length', field: 'address.city', unique: false }
  expect(isReadable('indexes', JSON.stringify({ indexes: Array.from({ length: 64_000 }, () => index) }, null, 2))).toBe(
    true,
  )
  const token = {
    id: 'abcdefghijklmnop',
    tokenHash: 'x'.repeat(43),
    name: 'ci',
    access: ['read'],
    cidrs: ['10.0.0.0/8'],
  }
  const settingsOf = (count: number) => JSON.stringify({ apiTokens: Array.from({ length: count }, () => token) })
  expect(isReadable('settings', settingsOf(40_000))).toBe(true)
  expect(isReadable('settings', settingsOf(200_000))).toBe(false)
  expect(isReadable('settings', `[${'{},'.repeat(600_000)}{}]`)).toBe(false)
})

test('what holds over two collections holds in every backup that is made meanwhile', async () => {
  const { ports, data } = await backupWorld()
  let isOver = false
  // The sum of both never is more than what was put into the first one before.
  const writing = (async () => {
    for (let n = 0; !isOver; n += 1) {
      await data.documents.put('first', 'n', JSON.stringify({ _id: 'n', n }), 'any')
      await data.documents.put('second', 'n', JSON.stringify({ _id: 'n', n }), 'any')
    }
  })()
  for (let round = 0; round < 10; round += 1) {
    const { archive } = await backUp(ports, { space, visitor: admin })
    const { read } = await unpacked(archive)
    const numberIn = async (name: string) => JSON.parse((await read(name).catch(() => '')) || '{"n":0}').n
    const ahead = (await numberIn('collections/1.jsonl')) - (await numberIn('collections/2.jsonl'))
    expect([0, 1]).toContain(ahead)
  }
  isOver = true
  await writing
})

test('a restored generation takes over: the former one is refused, its versions never come again', async () => {
  const { host, ports, id, data } = await backupWorld()
  const version = await data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
  const draft = await ports.data.draft(id, 2)
  await draft.versions((await data.versions()) + 1_000)
  expect(await draft.documents.put('notes', 'a', '{"_id":"a"}', 'absent')).toBe(version + 1_001)
  await draft.putPairs([{ keyspace: '', key: 'k', value: '1', endsAt: null }])
  await draft.close()
  await ports.data.syncDraft(id, 2)
  await ports.data.refuse(id, 1)
  await expect(data.documents.get('notes', 'a')).rejects.toMatchObject({ code: 'store_unavailable' })
  await expect(ports.data.open(id, 1)).rejects.toMatchObject({ code: 'store_unavailable' })

  // The draft gets its name when it is opened, which a crash may have prevented.
  const restored = await ports.data.open(id, 2)
  expect(await restored.documents.get('notes', 'a')).toMatchObject({ version: version + 1_001 })
  expect(await restored.keyValues.get({ keyspace: '', key: 'k' })).toBe('1')
  await ports.data.raiseVersions(id, 1, await restored.versions())
  await ports.data.refuse(id, 2)
  ports.data.allow(id, 1)
  const again = await ports.data.open(id, 1)
  expect(await again.documents.put('notes', 'a', '{"_id":"a"}', version)).toBe(version + 1_002)

  await ports.data.draft(id, 3).then((each) => each.close())
  await ports.data.removeDrafts(id)
  await ports.data.removeGenerations(id, (generation) => generation === 2)
  const names = await readdir(join(host.path, 'spaces', id))
  expect(names.filter((name) => /^(draft|g[^1])/.test(name))).toEqual([])
})

test('generations, backups and removed tokens of a space are kept under its claim and go with it', async () => {
  const { host, ports, id } = await backupWorld()
  const { generations, backups, removedTokens } = ports
  const claim = { spaceId: id, epoch: 0 }
  expect(await generations.beginDraft('unknown', 1_000)).toBeNull()
  const taken = await ports.claims.take(id, 'restore', 15_000)
  if (taken === null || 'heldFor' in taken) throw new Error('The claim is not free.')
  expect([await generations.beginDraft(id, 1_000), await generations.beginDraft(id, 1_000)]).toEqual([2, 3])
  const audit = auditEvent(ports, 'restored', admin)
  const change = { generation: 3, isDraft: true, keepMs: 1_000 }
  expect(await generations.switchTo(claim, { ...change, audit })).toBe(false)
  expect(await generations.switchTo(taken, { ...change, generation: 4, audit })).toBe(false)
  expect(await generations.switchTo(taken, { ...change, audit })).toBe(true)
  expect(await generations.read(id)).toEqual({ current: 3, former: 1, isFormerKept: true })
  host.clock.nowMs += 1_000
  expect(await generations.read(id)).toMatchObject({ former: 1, isFormerKept: false })
  expect(await generations.forget(taken, 1)).toBe(true)
  expect(await generations.read(id)).toEqual({ current: 3, former: null, isFormerKept: false })

  for (let at = 1; at <= 12; at += 1) {
    await backups.add({ id: `b${at}`, spaceId: id, at, bytes: at, sha256: 'ab', madeBy: null })
  }
  expect((await backups.list(id)).map(({ at }) => at)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
  await removedTokens.add(id, 'one')
  await removedTokens.add(id, 'one')
  expect(await removedTokens.among(id, ['one', 'two'])).toEqual(['one'])
  await ports.claims.release(taken)
  await removeSpace(ports, { name: space, confirm: space, visitor: admin })
  expect(await backups.list(id)).toEqual([])
  expect(await removedTokens.among(id, ['one'])).toEqual([])
})
