import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AuthError } from '../../../../src/errors.js'
import { allowNetwork, disallowNetwork } from '../../../../src/flows/control/access-settings.js'
import { createApiToken, removeApiToken, rotateApiToken } from '../../../../src/flows/control/api-tokens.js'
import { changeKeySet } from '../../../../src/flows/control/key-set.js'
import { auditEvent } from '../../../../src/flows/steps/audit.js'
import { StoreError } from '../../../../src/host/documents/store-error.js'
import { undoRestore } from '../../../../src/host/flows/backups/switch-generation.js'
import { rotateKeys, setVariable } from '../../../../src/host/flows/spaces/environment.js'
import { readSpaces } from '../../../../src/host/flows/spaces/find-space.js'
import { createSpace, removeSpace } from '../../../../src/host/flows/spaces/spaces.js'
import { newMasterKey, parseMasterKeys } from '../../../../src/host/sealing/master-keys.js'
import { settleGenerations, sweepEachHour } from '../../../../src/host/spaces/settle-generations.js'
import { createKeyring } from '../../../../src/lib/keyring.js'
import type { BackupBed } from '../../../support/backup-bed.js'
import { contentOf, fill } from '../../../support/backup-content.js'
import { restoreNow, space } from '../../../support/backup-process.js'
import {
  backUpNow,
  backupWorld as backupWorldOn,
  entriesIn,
  inForce,
  openBackups,
  packed,
  signedBy,
} from '../../../support/backup-world.js'
import { admin, faultyCode } from '../../../support/space-world.js'

function factsOf(content: string) {
  return { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

/** What a restore and its undo promise, wherever the data of spaces is. */
export function restoreContract(name: string, bed: BackupBed): void {
  describe(`on ${name}`, () => {
    const backupWorld = () => backupWorldOn(undefined, bed)

    async function filled() {
      const world = await backupWorld()
      await fill(world)
      return world
    }

    test('ATK-205 a restore brings back exactly what was backed up, under versions that were never used', async () => {
      const world = await filled()
      const { ports, id, data, host } = world
      const before = await contentOf(world)
      const archive = await backUpNow(ports)
      const read = await data.documents.get('notes', 'n7')
      await data.documents.put('notes', 'n7', '{"_id":"n7","changed":true}', 'any')
      await data.documents.drop('latchkey_users')
      await data.documents.put('later', 'l', '{"_id":"l"}', 'any')
      await data.keyValues.remove({ keyspace: 'a', key: 'z' })

      const restored = await restoreNow(ports, archive)
      expect(restored).toMatchObject({
        ...{ time: '2023-11-14T22:13:20.000Z', collections: 4, documents: 1_202, pairs: 2 },
        ...{ undoUntil: '2023-11-15T22:13:20.000Z', release: null, warnings: [] },
        setAgain: { environment: [], apiTokens: [] },
      })
      expect(restored.steps).toContainEqual({ processed: 1_202, of: 1_202 })
      expect(restored.steps).toContainEqual({ collection: 'notes', field: 'text', processed: 1_200, of: 1_200 })
      expect(await contentOf(world)).toEqual(before)
      // An archive of the restored data has the same data.
      const again = await entriesIn(await backUpNow(ports))
      const dataIn = (entries: typeof again) => entries.filter(({ name }) => /jsonl|indexes/.test(name))
      expect(dataIn(again)).toEqual(dataIn(await entriesIn(archive)))

      await expect(data.documents.get('notes', 'n7')).rejects.toMatchObject({ code: 'store_unavailable' })
      const now = await inForce(ports, id)
      await expect(now.documents.put('notes', 'n7', '{"_id":"n7"}', read?.version ?? 0)).rejects.toMatchObject({
        code: 'not_current',
      })
      expect((await now.documents.get('notes', 'n7'))?.version).toBeGreaterThan(2 ** 32)
      // The child runs on, with the new data.
      expect(ports.children.starts.map(({ generation, release }) => [generation, release])).toEqual([
        [1, 1],
        [2, 1],
      ])
      expect(await bed.kept(host, id)).toEqual(['g1', 'g2'])
    })

    test('ATK-204 an undo switches back, a second one forth, and each is recorded and kept for a day', async () => {
      const world = await backupWorld()
      const { ports, id, data, store, host } = world
      await data.documents.put('notes', 'a', '{"_id":"a","n":1}', 'any')
      const archive = await backUpNow(ports)
      const changed = await data.documents.put('notes', 'a', '{"_id":"a","n":2}', 'any')
      await restoreNow(ports, archive)
      const bodyNow = async () => (await (await inForce(ports, id)).documents.get('notes', 'a'))?.body
      const restored = await (await inForce(ports, id)).documents.get('notes', 'a')
      expect(restored?.body).toBe('{"_id":"a","n":1}')

      await undoRestore(ports, { space, visitor: admin })
      expect(await bodyNow()).toBe('{"_id":"a","n":2}')
      const back = await inForce(ports, id)
      const next = await back.documents.put('notes', 'a', '{"_id":"a","n":3}', changed)
      expect(next).toBeGreaterThan(restored?.version ?? 0)

      await undoRestore(ports, { space, visitor: admin })
      expect(await bodyNow()).toBe('{"_id":"a","n":1}')
      expect(await (await inForce(ports, id)).versions()).toBeGreaterThan(next)
      expect(ports.children.running.get(id)?.generation).toBe(2)

      const events = await store.audit.list({ event: 'restored', limit: 10 })
      expect(events.map(({ detail, actor }) => [detail.generation, detail.former, detail.from, actor?.kind])).toEqual([
        [2, 1, undefined, 'user'],
        [1, 2, undefined, 'user'],
        [2, 1, space, 'user'],
      ])
      await bed.pass(host, 24 * 60 * 60 * 1000)
      await expect(undoRestore(ports, { space, visitor: admin })).rejects.toMatchObject({ code: 'not_found' })
      expect(await bodyNow()).toBe('{"_id":"a","n":1}')
    })

    test('without a restore nothing can be undone, and a missing file is never taken for an empty one', async () => {
      const world = await backupWorld()
      const { ports, id, host } = world
      await expect(undoRestore(ports, { space, visitor: admin })).rejects.toMatchObject({ code: 'not_found' })
      await restoreNow(ports, await backUpNow(ports))
      await ports.data.removeGenerations(id, (generation) => generation === 1)
      await expect(undoRestore(ports, { space, visitor: admin })).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('The data g1 of this space is missing'),
      })
      expect(await bed.kept(host, id)).toEqual(['g2'])
      expect(await ports.spaces.find(id)).toMatchObject({ generation: 2, busyWith: null })
    })

    test('the data before a restore is removed a day later, and the data before that at once', async () => {
      const world = await backupWorld()
      const { ports, id, host, folder, logger } = world
      const archive = await backUpNow(ports)
      const sweep = async () => {
        await settleGenerations(ports, { folder, spaces: await readSpaces(ports), logger })
        return bed.kept(host, id)
      }
      await restoreNow(ports, archive)
      await restoreNow(ports, archive)
      expect(await bed.kept(host, id)).toEqual(['g2', 'g3'])
      await bed.pass(host, 24 * 60 * 60 * 1000 - 1)
      expect(await sweep()).toEqual(['g2', 'g3'])
      await bed.pass(host, 1)
      expect(await sweep()).toEqual(['g3'])
      expect(await ports.generations.read(id)).toEqual({ current: 3, former: null, isFormerKept: false })

      // After an undo, what is kept has the greater number.
      await restoreNow(ports, archive)
      await undoRestore(ports, { space, visitor: admin })
      expect(await sweep()).toEqual(['g3', 'g4'])
      await bed.pass(host, 24 * 60 * 60 * 1000)
      expect(await sweep()).toEqual(['g3'])
      expect(await readdir(join(folder.spaces, id))).not.toContain('lost')

      // A running host looks each hour. A space that is being changed comes with the next look.
      const { passTime } = world
      await restoreNow(ports, archive)
      const stop = sweepEachHour(ports, { timer: ports.timer, logger })
      await passTime()
      expect(await bed.kept(host, id)).toEqual(['g3', 'g5'])
      await bed.pass(host, 24 * 60 * 60 * 1000)
      const claim = await ports.claims.take(id, 'deploy', 60_000)
      await passTime()
      expect(await bed.kept(host, id)).toEqual(['g3', 'g5'])
      if (claim && 'epoch' in claim) await ports.claims.release(claim)
      await passTime()
      await expect.poll(() => bed.kept(host, id)).toEqual(['g5'])
      stop()
    })

    test('a verification changes nothing, and needs no name', async () => {
      const world = await filled()
      const { ports, id, host } = world
      const archive = await backUpNow(ports)
      const before = await contentOf(world)
      expect(await restoreNow(ports, archive, { verifyOnly: true, release: true, confirm: undefined })).toMatchObject({
        ...{ documents: 1_202, undoUntil: null, release: null },
      })
      expect(await contentOf(world)).toEqual(before)
      expect(await bed.kept(host, id)).toEqual(['g1'])
      expect(await ports.releases.list(id)).toHaveLength(1)
      const damaged = Buffer.from(archive)
      damaged[archive.length >> 1] = (damaged[archive.length >> 1] ?? 0) ^ 1
      await expect(restoreNow(ports, damaged, { verifyOnly: true })).rejects.toMatchObject({ code: 'archive_invalid' })
    })

    test('a check finds that a file of the release is missing', async () => {
      const { ports } = await backupWorld()
      const entries = (await entriesIn(await backUpNow(ports))).filter(({ name }) => name !== 'release/bundle.mjs')
      const archive = await packed(signedBy(ports.signer, entries))
      const check = restoreNow(ports, archive, { verifyOnly: true, release: true, confirm: undefined })
      await expect(check).rejects.toMatchObject({ code: 'bundle_invalid' })
    })

    test('ATK-169 data that still has the name of a draft is in force, and no later restore removes it', async () => {
      const world = await backupWorld()
      const { ports, id } = world
      await fill(world)
      const archive = await backUpNow(ports)
      const adoptDraft = async (spaceId: string, generation: number) => {
        if (generation === 2) throw new StoreError('store_unavailable', 'no connection')
        await ports.data.adoptDraft(spaceId, generation)
      }
      const unnamed = { ...ports, data: { ...ports.data, adoptDraft } }
      await restoreNow(unnamed, archive)
      const before = await contentOf(world)
      const unread = {
        ...ports,
        data: { ...ports.data, open: () => Promise.reject(new StoreError('store_unavailable', 'no connection')) },
      }
      await expect(restoreNow(unread, archive.subarray(0, archive.length >> 1))).rejects.toThrow(AuthError)
      expect((await ports.spaces.find(id))?.generation).toBe(2)
      expect(await contentOf(world)).toEqual(before)
    })

    test('code comes only with release, as a release of its own; when it does not start, the former one gets the data', async () => {
      const { ports, id, data } = await backupWorld()
      await data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
      const archive = await backUpNow(ports)
      expect(await restoreNow(ports, archive, { release: true })).toMatchObject({ release: 2 })
      expect(ports.children.running.get(id)).toMatchObject({ release: 2, generation: 2 })
      expect((await ports.releases.list(id)).map(({ number, outcome }) => [number, outcome])).toEqual([
        [2, 'healthy'],
        [1, 'healthy'],
      ])

      const faulty = (await entriesIn(archive)).map((entry) => {
        if (entry.name === 'release/bundle.mjs') return { ...entry, content: faultyCode }
        if (entry.name !== 'release/release.json') return entry
        const manifest = JSON.parse(entry.content)
        const files = manifest.files.map((file: { path: string }) =>
          file.path === 'bundle.mjs' ? { ...file, ...factsOf(faultyCode) } : file,
        )
        return { ...entry, content: JSON.stringify({ ...manifest, files }) }
      })
      await expect(
        restoreNow(ports, await packed(signedBy(ports.signer, faulty)), { release: true }),
      ).rejects.toMatchObject({
        code: 'bundle_invalid',
        message: expect.stringContaining('The data is restored, the release is not: It throws at import.'),
      })
      expect(await ports.spaces.find(id)).toMatchObject({ release: 2, generation: 3, busyWith: null })
      expect(ports.children.running.get(id)).toMatchObject({ release: 2, generation: 3 })
    })

    test('an archive of another space needs both names, and never brings settings', async () => {
      const { ports, id, data } = await backupWorld()
      await data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
      const { id: other } = await createSpace(ports, { name: 'prod', visitor: admin })
      const archive = await backUpNow(ports)
      for (const confirm of ['prod', 'dev', 'dev,prod', '', undefined]) {
        await expect(restoreNow(ports, archive, { space: 'prod', confirm })).rejects.toMatchObject({
          code: 'invalid_request',
          details: { errors: [{ path: 'confirm' }] },
        })
      }
      await expect(restoreNow(ports, archive, { confirm: 'prod' })).rejects.toMatchObject({ code: 'invalid_request' })
      await expect(
        restoreNow(ports, archive, { space: 'prod', confirm: 'prod,dev', settings: true }),
      ).rejects.toMatchObject({ code: 'archive_invalid', message: expect.stringContaining('without settings') })
      await restoreNow(ports, archive, { space: 'prod', confirm: 'prod,dev' })
      expect(await (await inForce(ports, other)).documents.count('notes')).toBe(1)
      expect(await ports.spaces.find(id)).toMatchObject({ generation: 1 })
    })

    test('ATK-204 settings come only when asked for, one change row each, and removed tokens stay removed', async () => {
      const { ports, id, changes, store } = await backupWorld()
      const { apiTokens, accessSettings, policy } = ports.accessOf({ id, name: space })
      const access = { ...ports, apiTokens, accessSettings, policy }
      const tokens = {} as Record<'kept' | 'removed' | 'rotated' | 'vanished', string>
      for (const name of ['kept', 'removed', 'rotated', 'vanished'] as const) {
        tokens[name] = (await createApiToken(access, { token: { name }, visitor: admin })).id
      }
      await changeKeySet(access, { change: { url: 'https://id.example.org/keys', audience: 'dev' }, visitor: admin })
      await allowNetwork(access, { network: '192.0.2.0/24', visitor: admin })
      await setVariable(ports, { space, variable: { name: 'A', value: 'one', encrypted: true }, visitor: admin })
      const archive = await backUpNow(ports)

      await removeApiToken(access, { id: tokens.removed, visitor: admin })
      await rotateApiToken(access, { id: tokens.rotated, options: {}, visitor: admin })
      // As after a start with an older host.db, and when replaced ones have expired.
      for (const tokenId of [tokens.vanished, tokens.rotated]) {
        await store.at(id).apiTokens.remove(tokenId, { until: 0, audit: auditEvent(ports, 'api_token_removed', admin) })
      }
      await changeKeySet(access, { change: { url: null }, visitor: admin })
      await allowNetwork(access, { network: '198.51.100.1', visitor: admin })
      await disallowNetwork(access, { network: '192.0.2.0/24', visitor: admin })
      for (const [name, value] of [
        ['A', 'two'],
        ['B', 'new'],
      ] as const) {
        await setVariable(ports, { space, variable: { name, value, encrypted: false }, visitor: admin })
      }

      const settingsNow = async () => {
        const { variables = [], key } = (await ports.environment.read(id)) ?? {}
        return {
          access: await accessSettings.read(),
          tokens: (await apiTokens.list({ after: null, limit: 50 })).map(({ name }) => name).toSorted(),
          environment:
            key && variables.map((each) => [each.name, ports.sealer.open(key, each), each.encrypted, each.version]),
        }
      }
      const before = await settingsNow()
      await restoreNow(ports, archive)
      expect(await settingsNow()).toEqual(before)

      changes.length = 0
      expect(await restoreNow(ports, archive, { settings: true })).toMatchObject({
        setAgain: { environment: [], apiTokens: [] },
        warnings: [],
      })
      expect(await settingsNow()).toMatchObject({
        access: {
          jwksUrl: 'https://id.example.org/keys',
          jwksRules: { audience: ['dev'] },
          networks: ['192.0.2.0/24'],
        },
        tokens: ['kept', 'rotated', 'vanished'],
        environment: [
          ['A', 'one', true, 3],
          ['B', 'new', false, 1],
        ],
      })
      expect(changes.filter(({ kind }) => kind === 'setting').map(({ subject }) => subject)).toEqual([
        `${id}/jwks`,
        `${id}/allow_list`,
        `${id}/allow_list`,
      ])
      expect(ports.children.running.get(id)?.env).toEqual({ A: 'one', B: 'new' })
    })

    test('ATK-168 an archive of another installation needs a session and foreign, and its secrets are listed', async () => {
      const other = await backupWorld()
      await other.data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
      await setVariable(other.ports, { space, variable: { name: 'KEY', value: 'v', encrypted: true }, visitor: admin })
      const access = { ...other.ports, ...other.ports.accessOf({ id: other.id, name: space }) }
      await createApiToken(access, { token: { name: 'partner' }, visitor: admin })
      const archive = await backUpNow(other.ports)

      const { ports, id } = await backupWorld()
      const confirm = 'dev,dev'
      await expect(restoreNow(ports, archive, { confirm })).rejects.toMatchObject({
        code: 'archive_invalid',
        message: expect.stringContaining('restore it with foreign=true, or with --foreign of the tool'),
      })
      await expect(restoreNow(ports, archive, { confirm, foreign: true, isSession: false })).rejects.toMatchObject({
        code: 'admin_token_not_for_this',
      })
      expect(await ports.spaces.find(id)).toMatchObject({ generation: 1 })
      expect(await restoreNow(ports, archive, { confirm, foreign: true })).toMatchObject({
        setAgain: { environment: ['KEY'], apiTokens: ['partner'] },
      })
      expect(await (await inForce(ports, id)).documents.count('notes')).toBe(1)

      // The manifest names our key, the signature another one.
      const entries = await entriesIn(await backUpNow(ports))
      const unsigned = await packed(signedBy(parseMasterKeys(newMasterKey()), entries))
      await expect(restoreNow(ports, unsigned)).rejects.toMatchObject({ code: 'archive_invalid' })
      await expect(restoreNow(ports, unsigned, { isSession: false })).rejects.toMatchObject({
        code: 'admin_token_not_for_this',
      })
      // Settings of such an archive are never brought: anyone could have written them.
      await setVariable(ports, { space, variable: { name: 'OWN', value: 'v', encrypted: false }, visitor: admin })
      const withSettings = await packed(
        signedBy(parseMasterKeys(newMasterKey()), await entriesIn(await backUpNow(ports))),
      )
      expect(await restoreNow(ports, withSettings, { foreign: true, settings: true })).toMatchObject({
        setAgain: { environment: ['OWN'] },
        warnings: ['The settings stay: the signature of the archive cannot be checked.'],
      })
    })

    test('values and tokens under keys that are gone are to be set again', async () => {
      const { ports, id, host } = await backupWorld()
      await setVariable(ports, { space, variable: { name: 'KEY', value: 'v', encrypted: true }, visitor: admin })
      const access = { ...ports, ...ports.accessOf({ id, name: space }), keyring: createKeyring(['a former secret']) }
      const { id: tokenId } = await createApiToken(access, { token: { name: 'old' }, visitor: admin })
      const archive = await backUpNow(ports)
      await access.apiTokens.remove('short', { until: 0, audit: auditEvent(ports, 'api_token_removed', admin) })
      const { apiTokens } = (await openBackups(host)).store.at(id)
      await apiTokens.remove(tokenId, { until: 0, audit: auditEvent(ports, 'api_token_removed', admin) })
      await rotateKeys(ports, { keys: parseMasterKeys(host.masterKey.text), deep: true, visitor: admin })
      expect(await restoreNow(ports, archive, { settings: true })).toMatchObject({
        setAgain: { environment: ['KEY'], apiTokens: ['old'] },
      })
    })

    test('ATK-201 on a disk that is nearly full nothing is restored', async () => {
      const { ports, id } = await backupWorld()
      const archive = await backUpNow(ports)
      const files = { ...ports.files, isFull: () => true }
      await expect(restoreNow({ ...ports, files }, archive)).rejects.toMatchObject({ code: 'quota_exceeded' })
      // It fills while the archive is written.
      const data = { ...ports.data, draft: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) }
      await expect(restoreNow({ ...ports, data }, archive)).rejects.toMatchObject({ code: 'quota_exceeded' })
      expect(await ports.spaces.find(id)).toMatchObject({ generation: 1, busyWith: null })
    })

    test('the application that does not start with restored data is told, and the data can be taken back', async () => {
      const { ports, id, data } = await backupWorld()
      await data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
      const archive = await backUpNow(ports)
      const failing = {
        ...ports.children,
        start: () => Promise.reject(new AuthError('application_timeout', { detail: 'It did not start.' })),
      }
      await expect(restoreNow({ ...ports, children: failing }, archive)).rejects.toMatchObject({
        code: 'application_timeout',
        message: 'The data is restored, but the application does not start: It did not start.',
      })
      expect(await ports.spaces.find(id)).toMatchObject({ generation: 2, busyWith: null })
      await undoRestore(ports, { space, visitor: admin })
      expect(ports.children.running.get(id)).toMatchObject({ generation: 1 })
    })

    test('the application is started again when the host could not start it, unless it is at fault or its space is gone', async () => {
      const { ports, id, passTime } = await backupWorld()
      const archive = await backUpNow(ports)
      const starts: string[] = []
      const failing = (fault: () => Error) => ({
        ...ports.children,
        start: () => {
          starts.push(id)
          return Promise.reject(fault())
        },
      })
      const tries = async (fault: () => Error, times: number) => {
        const restored = restoreNow({ ...ports, children: failing(fault) }, archive)
        await expect(restored).rejects.toMatchObject({ code: expect.stringMatching(/store_unavailable|timeout/) })
        starts.length = 0
        for (let at = 0; at < times; at += 1) await passTime()
        return starts.length
      }
      const unavailable = () => new AuthError('store_unavailable')
      const faults = [unavailable(), unavailable(), new AuthError('application_timeout')]
      expect(await tries(() => faults.shift() ?? unavailable(), 5)).toBe(2)
      expect(await tries(unavailable, 3)).toBe(3)
      expect(await ports.spaces.find(id)).toMatchObject({ busyWith: null })
      await removeSpace(ports, { name: space, confirm: space, visitor: admin })
      starts.length = 0
      for (let at = 0; at < 3; at += 1) await passTime()
      expect(starts).toEqual([])
    })

    test('ATK-205 a space whose file is damaged or gone is restored, under versions above all that it ever had', async () => {
      const { ports, id, data, host } = await backupWorld()
      await data.documents.put('notes', 'a', '{"_id":"a"}', 'any')
      const archive = await backUpNow(ports)
      await restoreNow(ports, archive)
      const { version = 0 } = (await (await inForce(ports, id)).documents.get('notes', 'a')) ?? {}
      await ports.data.refuse(id, 2)
      ports.data.allow(id, 2)
      await bed.damage(host, id, 2)
      await expect(inForce(ports, id)).rejects.toMatchObject({ code: 'store_unavailable' })
      await restoreNow(ports, archive)
      const restored = await (await inForce(ports, id)).documents.get('notes', 'a')
      expect(restored?.version).toBeGreaterThan(version)
      expect(Number.isSafeInteger(restored?.version)).toBe(true)

      await ports.data.refuse(id, 3)
      ports.data.allow(id, 3)
      await bed.lose(host, id, 3)
      await expect(inForce(ports, id)).rejects.toMatchObject({ code: 'store_unavailable' })
      await restoreNow(ports, archive)
      const again = await (await inForce(ports, id)).documents.get('notes', 'a')
      expect(again?.version).toBeGreaterThan(restored?.version ?? 0)
    })
  })
}
