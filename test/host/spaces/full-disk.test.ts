import { describe, expect, test } from 'vitest'
import { importLines } from '../../../src/host/flows/collections/import.js'
import { createIndexes } from '../../../src/host/flows/collections/indexes.js'
import type { CollectionPorts } from '../../../src/host/flows/collections/ports.js'
import { queryCollection } from '../../../src/host/flows/collections/query.js'
import { space } from '../../support/backup-process.js'
import { backupWorld } from '../../support/backup-world.js'
import { admin } from '../../support/space-world.js'

const notes = { space, collection: 'notes', visitor: admin }

/** A host whose disk is nearly full. No worker starts; `started` lists the tasks for which one was asked. */
async function fullHost() {
  const { ports } = await backupWorld()
  const started: string[] = []
  const collections: CollectionPorts = {
    ...ports,
    files: { isFull: () => true },
    open: ({ id, generation }) => ports.data.open(id, generation),
    enterBuild: () => () => {},
    uploadBytes: 1_000,
    spool: () => Promise.reject(new Error('nothing is received')),
    workers: {
      start(_space, { kind }) {
        started.push(kind)
        return Promise.reject(new Error('no workers here'))
      },
    },
  }
  return { ports: collections, started }
}

async function* lines() {
  yield Buffer.from('{"_id":"a"}\n')
}

const judged = (pieces: AsyncIterable<Uint8Array>) => pieces

const full = { code: 'quota_exceeded', message: expect.stringContaining('Free some space') }

describe('on a disk that is nearly full', () => {
  test('ATK-201 nothing is imported, changed or indexed', async () => {
    const { ports, started } = await fullHost()
    const wanted = { lines: lines(), judged, upsert: false, dryrun: false }
    await expect(importLines(ports, notes, wanted)).rejects.toMatchObject(full)
    await expect(queryCollection(ports, notes, { filter: {}, delete: true })).rejects.toMatchObject(full)
    await expect(createIndexes(ports, notes, { fields: ['n'], unique: false })).rejects.toMatchObject(full)
    expect(started).toEqual([])
  })

  test('a query still reads, and an import is not even tried: its upload needs the disk', async () => {
    const { ports, started } = await fullHost()
    await expect(queryCollection(ports, notes, { filter: {} })).rejects.toThrow('no workers')
    const wanted = { lines: lines(), judged, upsert: false, dryrun: true }
    await expect(importLines(ports, notes, wanted)).rejects.toMatchObject(full)
    expect(started).toEqual(['query'])
  })
})
