import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSpacesData } from '../../../src/host/spaces/generations.js'
import { createTestClock } from '../../../src/testing.js'
import { temporaryFolder } from '../../support/auth.js'
import { threadProgram } from '../../support/storage-threads.js'

const program = await threadProgram()

test('a request that found a space before its removal does not make its data anew', async () => {
  const folder = { spaces: temporaryFolder() }
  const data = openSpacesData({
    folder,
    disk: { mayWrite: () => true },
    schemas: null,
    limits: { spaceBytes: 1024 ** 3, documentBytes: 1024 ** 2, depth: 32, indexes: 64 },
    logger: { warn: () => {}, error: () => {} },
    world: createTestClock(),
    program,
  })
  onTestFinished(data.close)
  const held = await data.open('gone', 1)
  await data.remove('gone')
  const files = join(folder.spaces, 'gone')
  await rm(files, { recursive: true })

  const unavailable = { code: 'store_unavailable' }
  await expect(held.documents.put('notes', 'a', '{}', 'any')).rejects.toMatchObject(unavailable)
  await expect(data.open('gone', 1)).rejects.toMatchObject(unavailable)
  await expect(access(files)).rejects.toMatchObject({ code: 'ENOENT' })
})
