import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createRemoteStore } from '../../src/host/runner/datastore/datastore.js'
import { documentsContract } from '../contracts/host/documents.js'
import { keyValuesContract } from '../contracts/host/key-values.js'
import { createSpaceStore, type SpaceStore } from '../support/space-store.js'
import { serveStore } from '../support/store-socket.js'

const key = 'k'.repeat(43)

/** The store as a child sees it: over a unix socket. */
async function openRemote(now?: () => number): Promise<SpaceStore & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'space-'))
  const socketPath = join(folder, 'store.sock')
  const socket = await serveStore(createSpaceStore(now), socketPath, key)
  return {
    ...createRemoteStore({ socketPath, key }),
    async close() {
      await socket.close()
      await rm(folder, { recursive: true })
    },
  }
}

documentsContract('memory', async () => ({ ...createSpaceStore(), close: async () => {} }))
keyValuesContract('memory', async (now) => ({ ...createSpaceStore(now), close: async () => {} }))
documentsContract('a unix socket', openRemote)
keyValuesContract('a unix socket', openRemote)

test('ATK-158 another key opens nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'space-'))
  const socketPath = join(folder, 'store.sock')
  const socket = await serveStore(createSpaceStore(), socketPath, key)
  onTestFinished(socket.close)
  const { documents } = createRemoteStore({ socketPath, key: 'x'.repeat(43) })
  await expect(documents.list()).rejects.toMatchObject({ code: 'store_unavailable' })
})

test('a socket that is gone is store_unavailable', async () => {
  const { documents } = createRemoteStore({ socketPath: join(tmpdir(), 'no-such.sock'), key })
  await expect(documents.list()).rejects.toMatchObject({ code: 'store_unavailable' })
})
