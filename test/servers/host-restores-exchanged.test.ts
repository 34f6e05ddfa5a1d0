import { expect, test, vi } from 'vitest'
import { type BackupBed, postgresBed, sqliteBed } from '../support/backup-bed.js'
import { contentOf, fill } from '../support/backup-content.js'
import { restoreNow } from '../support/backup-process.js'
import { backUpNow, backupWorld, entriesIn } from '../support/backup-world.js'

vi.setConfig({ testTimeout: 120_000 })

const postgres = postgresBed()

test.each<[string, BackupBed, BackupBed]>([
  ['files', sqliteBed, postgres],
  ['PostgreSQL', postgres, sqliteBed],
])('an archive of a host whose data is in %s restores where it is not, byte for byte', async (_from, from, to) => {
  const old = await backupWorld(undefined, from)
  await fill(old)
  const archive = await backUpNow(old.ports)
  const { masterKey } = old.host
  const moved = await backupWorld(undefined, { host: async () => ({ ...(await to.host()), masterKey }) })
  await restoreNow(moved.ports, archive, { release: true, confirm: 'dev,dev' })
  expect(await contentOf(moved)).toEqual(await contentOf(old))
  const dataIn = async (packed: Buffer) =>
    (await entriesIn(packed))
      .filter(({ name }) => /jsonl|indexes/.test(name))
      .map(({ name, content }) => [name, content])
  expect(await dataIn(await backUpNow(moved.ports))).toEqual(await dataIn(archive))
})
