import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSpacesData } from '../../../src/host/spaces/generations.js'
import { createTestClock } from '../../../src/testing.js'
import { temporaryFolder } from '../../support/auth.js'
import { threadProgram } from '../../support/storage-threads.js'

const program = await threadProgram()

function spacesData() {
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
  return { folder, data }
}

test('a request that found a space before its removal does not make its data anew', async () => {
  const { folder, data } = spacesData()
  const held = await data.open('gone', 1)
  await data.remove('gone')
  const files = join(folder.spaces, 'gone')
  await rm(files, { recursive: true })

  const unavailable = { code: 'store_unavailable' }
  await expect(held.documents.put('notes', 'a', '{}', 'any')).rejects.toMatchObject(unavailable)
  await expect(data.open('gone', 1)).rejects.toMatchObject(unavailable)
  await expect(access(files)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('of a space that was in use, missing data is not made anew', async () => {
  const { folder, data } = spacesData()
  data.expectData('lost')
  const missing = { code: 'store_unavailable', message: expect.stringContaining('g1 of this space is missing') }
  await expect(data.open('lost', 1)).rejects.toMatchObject(missing)
  await expect(access(join(folder.spaces, 'lost', 'g1.db'))).rejects.toMatchObject({ code: 'ENOENT' })
  await data.open('kept', 1)
  data.expectData('kept')
  await data.open('kept', 1)
})
