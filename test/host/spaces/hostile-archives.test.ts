import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { dataLimits, restoreNow } from '../../support/backup-process.js'
import {
  backUpNow,
  backupWorld,
  type Entry,
  entriesIn,
  forged,
  inForce,
  packed,
  signedBy,
  withText,
} from '../../support/backup-world.js'
import type { ArchiveEntry } from '../../support/release-archive.js'
import { inPieces } from '../../support/space-world.js'

type World = Awaited<ReturnType<typeof backupWorld>>

async function aBackup(): Promise<World & { archive: Buffer }> {
  const world = await backupWorld()
  const { documents, indexes, keyValues } = world.data
  for (const id of ['a', 'b', 'c']) await documents.put('notes', id, `{"_id":"${id}","n":"${id}"}`, 'any')
  await indexes.create('notes', 'n', true)
  await indexes.build('notes', 'n')
  for (const key of ['k', 'l']) await keyValues.set({ keyspace: '', key }, '1', null)
  return { ...world, archive: await backUpNow(world.ports) }
}

/** The former data is in force and can be written, nothing of the archive is left, and the space is free. */
async function expectUntouched({ ports, id, folder }: World): Promise<void> {
  const data = await inForce(ports, id)
  expect(await data.documents.count('notes')).toBe(3)
  await data.documents.put('notes', 'a', '{"_id":"a","n":"a"}', 'any')
  expect(await ports.spaces.find(id)).toMatchObject({ generation: 1, release: 1, busyWith: null })
  expect(await ports.generations.read(id)).toMatchObject({ former: null })
  const names = await readdir(join(folder.spaces, id))
  expect(names.filter((name) => /^(draft|g[^1])/.test(name))).toEqual([])
  expect(await readdir(join(folder.spaces, id, 'releases'))).toEqual(['1'])
  expect(await readdir(folder.spaces)).toEqual([id])
}

async function expectRefused(world: World, archive: Uint8Array, reason: string | RegExp, release = false) {
  const refused = restoreNow(world.ports, archive, { release })
  await expect(refused, String(reason)).rejects.toMatchObject({
    code: expect.stringMatching(/^(archive_invalid|bundle_invalid|quota_exceeded)$/),
    message: expect.stringMatching(reason),
  })
}

test('ATK-168 a bit that is changed anywhere is refused, and so is an archive that is cut off', async () => {
  const world = await aBackup()
  const { archive, ports } = world
  const entries = await entriesIn(archive)
  for (const { name, content } of entries) {
    if (name === 'checksums.json' || content === '') continue
    const changed = withText(entries, name, (text) => `${text.slice(0, -2)} ${text.slice(-1)}`)
    await expect(restoreNow(ports, await packed(changed)), name).rejects.toMatchObject({ code: 'archive_invalid' })
  }
  const tar = gunzipSync(archive)
  for (const at of [0, 1, 9, 10, 40, archive.length >> 1, archive.length - 8, archive.length - 1]) {
    await expectRefused(world, archive.subarray(0, at), /cut off|has no/)
    const damaged = Buffer.from(archive)
    damaged[at] = (damaged[at] ?? 0) ^ 0x10
    // The time and the system in the header of gzip mean nothing.
    if (at !== 9) await expect(restoreNow(ports, damaged), `bit at ${at}`).rejects.toMatchObject({ status: 422 })
  }
  for (let at = 512; at < tar.length; at += 1_024) {
    await expectRefused(world, gzipSync(tar.subarray(0, at)), /./)
    if (at > tar.length - 3_072) break
  }
  await expectUntouched(world)
})

test('ATK-168 entries that are swapped, twice, missing, added, links or outside are refused', async () => {
  const world = await aBackup()
  const { archive, ports } = world
  const entries = await entriesIn(archive)
  const at = (name: string) => entries.findIndex((entry) => entry.name === name)
  const entry = (name: string): Entry => entries[at(name)] ?? { name, content: '' }
  const swapped = (one: string, other: string) =>
    entries.map((each) => (each.name === one ? entry(other) : each.name === other ? entry(one) : each))
  const replaced = (name: string, ...by: ArchiveEntry[]) =>
    entries.flatMap((each) => (each.name === name ? by : [each]))
  const link = (name: string, type: 'symlink' | 'link' | 'directory' | 'fifo'): ArchiveEntry => ({
    name,
    type,
    linkname: '/etc/passwd',
  })
  const cases: [string, readonly ArchiveEntry[]][] = [
    ['stands where "indexes.json" belongs', swapped('indexes.json', 'kv.jsonl')],
    ['stands where "manifest.json" belongs', swapped('manifest.json', 'settings.json')],
    ['stands where "settings.json" belongs', swapped('settings.json', 'checksums.json')],
    ['stands where "collections/1.jsonl"', entries.toSpliced(at('manifest.json'), 0, entry('manifest.json'))],
    ['stands where "indexes.json"', entries.toSpliced(at('collections/1.jsonl'), 0, entry('collections/1.jsonl'))],
    ['stands behind checksums.json', [...entries, entry('settings.json')]],
    ['stands where "checksums.json"', entries.toSpliced(-1, 0, { name: 'more.json', content: '{}' })],
    ...entries.flatMap(({ name }): [string, ArchiveEntry[]][] =>
      name.startsWith('release/') && name !== 'release/release.json'
        ? []
        : [['stands where|has no|differs from its checksum', entries.filter((each) => each.name !== name)]],
    ),
    ...[
      '../collections/1.jsonl',
      '/collections/1.jsonl',
      './collections/1.jsonl',
      'collections/../1',
      'collections/2.jsonl',
    ].map((name): [string, ArchiveEntry[]] => [
      'stands where "collections/1.jsonl" belongs',
      replaced('collections/1.jsonl', { ...entry('collections/1.jsonl'), name }),
    ]),
    ...(['symlink', 'link', 'directory', 'fifo'] as const).map((type): [string, ArchiveEntry[]] => [
      'is no plain file',
      replaced('collections/1.jsonl', link('collections/1.jsonl', type)),
    ]),
  ]
  for (const [reason, changed] of cases) {
    await expectRefused(world, await packed(changed), reason.replaceAll('.', '\\.'))
  }
  for (const name of ['../x', 'assets/../../x', 'assets//x', '/x', 'bundle.mjs', 'assets/\\x', 'assets/a\nb']) {
    const added = entries.toSpliced(at('settings.json'), 0, { name: `release/${name}`, content: 'x' })
    for (const release of [false, true]) {
      await expectRefused(world, await packed(signedBy(ports.signer, added)), /release|listed|twice|path/, release)
    }
  }
  await expectUntouched(world)
})

test('ATK-168 checksums that are true but not signed by this installation are refused', async () => {
  const world = await aBackup()
  const entries = withText(await entriesIn(world.archive), 'kv.jsonl', (text) => text.replace('"1"', '"2"'))
  const { keyId } = world.ports.signer.sign('')
  for (const mac of ['', 'AAAA', 'A'.repeat(43), world.ports.signer.sign('other').mac]) {
    await expectRefused(world, await packed(signedBy({ sign: () => ({ keyId, mac }) }, entries)), /after it was signed/)
  }
  await expectUntouched(world)
  const events = await world.store.audit.list({ event: 'restored', limit: 10 })
  const facts = events.map(({ outcome, detail }) => [outcome, detail.code])
  expect(facts).toEqual(Array.from({ length: 4 }, () => ['failure', 'archive_invalid']))
})

/** By the text of one entry, after which the archive is signed as by this installation. */
const forgeries: Record<string, [entry: string, change: (text: string) => string, reason: RegExp][]> = {
  'of the manifest': [
    ['manifest.json', () => '{}', /damaged/],
    ['manifest.json', () => '[]', /damaged/],
    ['manifest.json', () => '\uFEFF{}', /damaged/],
    ['manifest.json', (text) => text.replace('"format": 1', '"format": 2'), /another version/],
    ['manifest.json', (text) => text.replace('"count": 3', '"count": 2'), /not what/],
    ['manifest.json', (text) => text.replace('"count": 3', '"count": -1'), /damaged/],
    ['manifest.json', (text) => text.replace('"count": 3', '"count": 1e300'), /damaged/],
    ['manifest.json', (text) => text.replace(/"bytes": \d+/, '"bytes": 1'), /not what/],
    ['manifest.json', (text) => text.replace('"pairs": 2', '"pairs": 3'), /2 pairs, not 3/],
    ['manifest.json', (text) => text.replace('"notes"', '"__proto__"'), /no name of a collection/],
    ['manifest.json', (text) => text.replace('"notes"', '"_hidden"'), /no name of a collection/],
    ['manifest.json', (text) => text.replace('"notes"', '"../notes"'), /no name of a collection/],
    ['manifest.json', (text) => text.replace(/"time": "[^"]*"/, '"time": "\\u001b[2J"'), /no time/],
    ['manifest.json', (text) => text.replace(/"bytes": \d+/, '"bytes": 1e12'), /limits\.space/],
    ['manifest.json', twoCollections, /listed twice/],
    ['manifest.json', tooManyCollections, /1001 collections, at most 1000/],
  ],
  'of documents': [
    ['collections/1.jsonl', (text) => text.replace('"a"', '"c"'), /twice/],
    ['collections/1.jsonl', (text) => text.replace('"_id"', '"_ID"'), /no document/],
    ['collections/1.jsonl', (text) => text.replace('{', '['), /no document/],
    ['collections/1.jsonl', (text) => text.replace('"a"', '12 '), /no document/],
    ['collections/1.jsonl', (text) => text.replace('"a"', '"" '), /_id must be/],
    ['collections/1.jsonl', (text) => text.replaceAll('\n', '\r'), /no document/],
    ['collections/1.jsonl', (text) => text.replace('"n":"a"', '"n":"b"'), /unique|twice|same|already/],
    ['collections/1.jsonl', (text) => text.slice(0, -1), /not what/],
    ['collections/1.jsonl', (text) => `${text}\n`, /no document/],
    ['collections/1.jsonl', (text) => `${text}{"_id":"d"}\n`, /not what/],
  ],
  'of indexes': [
    ['indexes.json', () => '{"indexes":{}}', /damaged/],
    ['indexes.json', (text) => text.replace('"notes"', '"other"'), /not there/],
    ['indexes.json', (text) => text.replace('"field": "n"', '"field": "__proto__"'), /field/],
    ['indexes.json', (text) => text.replace('"field": "n"', '"field": "$where"'), /field/],
    ['indexes.json', (text) => JSON.stringify(twice(JSON.parse(text))), /twice/],
  ],
  'of pairs': [
    ['kv.jsonl', (text) => text.replace('"l"', '"k"'), /twice, or out of order/],
    ['kv.jsonl', (text) => text.replace('"k"', '"m"'), /twice, or out of order/],
    ['kv.jsonl', (text) => text.replace('"k"', '""'), /not empty/],
    ['kv.jsonl', (text) => text.replace('"1"', '1'), /no key-value pair/],
    ['kv.jsonl', (text) => text.replace('null', '"x"'), /no key-value pair/],
    ['kv.jsonl', (text) => text.replace('null', '1.5'), /no key-value pair/],
    ['kv.jsonl', (text) => text.replace('"keyspace"', '"__proto__"'), /no key-value pair/],
    ['kv.jsonl', (text) => text.replace('"k"', `"${'k'.repeat(2_000)}"`), /1024 bytes/],
    ['kv.jsonl', () => '', /0 pairs, not 2/],
  ],
  'of settings': [
    ['settings.json', () => 'null', /damaged/],
    ['settings.json', (text) => text.replace('"networks": []', '"networks": "all"'), /damaged/],
  ],
}

function twoCollections(text: string): string {
  const manifest = JSON.parse(text)
  return JSON.stringify({ ...manifest, collections: [...manifest.collections, ...manifest.collections] })
}

function tooManyCollections(text: string): string {
  const named = (_: unknown, at: number) => ({ name: `c${at}`, count: 0, bytes: 0 })
  return JSON.stringify({ ...JSON.parse(text), collections: Array.from({ length: 1_001 }, named) })
}

const twice = ({ indexes }: { indexes: unknown[] }) => ({ indexes: [...indexes, ...indexes] })

test.each(Object.keys(forgeries))('ATK-168 a forgery %s is refused, even with a signature of ours', async (kind) => {
  const world = await aBackup()
  for (const [name, change, reason] of forgeries[kind] ?? []) {
    const archive = await forged(world.ports, world.archive, (entries) => withText(entries, name, change))
    await expectRefused(world, archive, reason)
  }
  await expectUntouched(world)
})

test('ATK-168 names of prototypes are ordinary keys', async () => {
  const { ports, id, archive } = await aBackup()
  const line = '{"_id":"__proto__","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
  const changed = await forged(ports, archive, (entries) =>
    withText(
      withText(entries, 'collections/1.jsonl', () => `${line}\n`),
      'manifest.json',
      (text) => text.replace('"count": 3', '"count": 1').replace(/"bytes": \d+/, `"bytes": ${line.length}`),
    ),
  )
  await restoreNow(ports, changed)
  expect(await (await inForce(ports, id)).documents.get('notes', '__proto__')).toMatchObject({ body: line })
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('ATK-168 bombs end early: zeros, headers, a long line, and more than the space may hold', async () => {
  const world = await aBackup()
  const { ports, archive } = world
  const entries = await entriesIn(archive)
  const zeros = gzipSync(Buffer.concat([await tarHead(entries), Buffer.alloc(256 * 1024 * 1024)]))
  expect(zeros.length).toBeLessThan(512 * 1024)
  let read = 0
  async function* counted() {
    for await (const piece of inPieces(zeros, 4 * 1024)) {
      read += piece.length
      yield piece
    }
  }
  await expect(restoreNow(ports, counted())).rejects.toMatchObject({ code: 'archive_invalid' })
  expect(read).toBeLessThan(zeros.length / 2)

  const long = 'x'.repeat(dataLimits.documentBytes + 1)
  const cases: [string, (text: string) => string, RegExp][] = [
    ['collections/1.jsonl', () => `{"_id":"${long}"}\n`, /too long/],
    ['kv.jsonl', () => `{"key":"${'x'.repeat(6 * dataLimits.documentBytes + 20_000)}"}\n`, /too long/],
    ['kv.jsonl', () => `{"keyspace":"","key":"k","value":"${long}","endsAt":null}\n`, /bytes at most/],
    ['manifest.json', (text) => `${text}${' '.repeat(5 * 1024 * 1024)}`, /too long/],
    ['indexes.json', () => `{"indexes":[${'[],'.repeat(300_000)}[]]}`, /too long/],
    ['release/bundle.mjs', () => 'x'.repeat(130 * 1024 * 1024), /limits\.code/],
  ]
  for (const [name, change, reason] of cases) {
    await expectRefused(world, await forged(ports, archive, (all) => withText(all, name, change)), reason)
  }
  const deep = () => `{"entries":${'['.repeat(20)}${']'.repeat(20)}}`
  await expectRefused(world, await packed(withText(entries, 'checksums.json', deep)), /too long/)
  await expectUntouched(world)
})

/** The tar file of the manifest, without its end. */
async function tarHead(entries: readonly Entry[]): Promise<Buffer> {
  const tar = gunzipSync(await packed(entries.slice(0, 1)))
  return tar.subarray(0, tar.length - 1_024)
}

test('an archive that does not fit into the quota of the space leaves the former data', async () => {
  const large = await backupWorld()
  for (let n = 0; n < 40; n += 1) {
    await large.data.documents.put('notes', `n${n}`, `{"_id":"n${n}","t":"${'x'.repeat(100_000)}"}`, 'any')
  }
  for (let n = 0; n < 40; n += 1)
    await large.data.keyValues.set({ keyspace: '', key: `k${n}` }, 'y'.repeat(100_000), null)
  const archive = await backUpNow(large.ports)
  const small = await backupWorld({ ...dataLimits, spaceBytes: 5 * 1024 ** 2 })
  await small.data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
  const installation = ({ signer }: World['ports']) => signer.sign('').keyId
  const ours = (manifest: string) =>
    manifest.replace(large.id, small.id).replace(installation(large.ports), installation(small.ports))
  const entries = (await entriesIn(archive)).map((entry) =>
    entry.name === 'manifest.json' ? { ...entry, content: ours(entry.content) } : entry,
  )
  await expect(restoreNow(small.ports, await packed(signedBy(small.ports.signer, entries)))).rejects.toMatchObject({
    code: 'quota_exceeded',
  })
  expect(await (await inForce(small.ports, small.id)).documents.count('notes')).toBe(1)
})

test('ATK-192 an upload that breaks off changes nothing', async () => {
  const world = await aBackup()
  const { archive, ports } = world
  for (const at of [0, 100, archive.length - 10]) {
    async function* broken() {
      yield archive.subarray(0, at)
      throw new Error('The client has gone.')
    }
    await expect(restoreNow(ports, broken())).rejects.toThrow('The client has gone.')
  }
  await expectUntouched(world)
})
