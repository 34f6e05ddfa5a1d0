import { expect, test } from 'vitest'
import type { AuthError } from '../../../src/errors.js'
import { createSpace } from '../../../src/host/flows/spaces/spaces.js'
import { progressRows } from '../../../src/host/routes/progress.js'
import { activateRows, deployRows, logRows, type StreamRequest } from '../../../src/host/routes/streams.js'
import { admin, archiveWith, faultyCode, hostFolder, openProcess } from '../../support/space-world.js'

const asked = (params: Record<string, string> = {}, query = ''): StreamRequest => ({
  params: { space: 'dev', ...params },
  request: { query, headers: { 'x-latchkey-git-dirty': 'true' } },
  visitor: admin,
  context: { requestId: 'request-1', report: () => {} },
})

async function aSpace() {
  const process = await openProcess(await hostFolder())
  await createSpace(process.ports, { name: 'dev', visitor: admin })
  return process
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const row of rows) found.push(row)
  return found
}

test('a deploy answers with its steps, and ends with the release or with the problem', async () => {
  const { ports, nouns } = await aSpace()
  expect(await all(deployRows(ports, asked(), await archiveWith('first')))).toEqual([
    { step: 'uploaded', ms: expect.any(Number) },
    { step: 'started', ms: expect.any(Number) },
    { step: 'serving', ms: expect.any(Number) },
    { done: true, release: 1, warnings: [] },
  ])
  expect(await all(deployRows(ports, asked(), await archiveWith(faultyCode)))).toEqual([
    { step: 'uploaded', ms: expect.any(Number) },
    { error: expect.objectContaining({ code: 'bundle_invalid', status: 422, requestId: 'request-1' }) },
  ])
  const { id } = (await nouns.spaces.findByName('dev')) ?? { id: '' }
  expect((await nouns.releases.list(id)).map(({ dirty }) => dirty)).toEqual([true, true])
  expect(await all(activateRows(ports, asked({ n: '1' })))).toMatchObject([{ step: 'started' }, { done: true }])
  for (const n of ['9', '0', '-1', '1.5', 'x']) {
    expect(await all(activateRows(ports, asked({ n })))).toMatchObject([{ error: { code: 'not_found' } }])
  }
})

test('ATK-192 a complete upload goes on when its client leaves', async () => {
  const { ports, nouns } = await aSpace()
  const rows = deployRows(ports, asked(), await archiveWith('first'))
  for await (const row of rows) {
    expect(row).toMatchObject({ step: 'uploaded' })
    break
  }
  await expect.poll(async () => (await nouns.spaces.findByName('dev'))?.release).toBe(1)
})

test('the log is answered line by line, by time and level, and followed by new lines', async () => {
  const { ports } = await aSpace()
  const { children } = ports
  const at = Date.parse('2026-01-31T12:00:00Z')
  children.print({ at, level: 'info', text: 'one' })
  children.print({ at, level: 'error', text: 'two' })
  const one = { at: '2026-01-31T12:00:00.000Z', level: 'info', text: 'one' }
  const two = { at: '2026-01-31T12:00:00.000Z', level: 'error', text: 'two' }
  expect(await all(await logRows(ports, asked()))).toEqual([one, two, { end: { count: 2 } }])
  expect(await all(await logRows(ports, asked({}, 'level=error')))).toEqual([two, { end: { count: 1 } }])
  for (const query of ['level=debug', 'since=yesterday']) {
    await expect(logRows(ports, asked({}, query))).rejects.toMatchObject({ code: 'invalid_request' })
  }

  const followed: unknown[] = []
  for await (const row of await logRows(ports, asked({}, 'follow=true&level=error'))) {
    followed.push(row)
    if (followed.length === 2) break
    children.print({ at, level: 'info', text: 'three' })
    children.print({ at, level: 'error', text: 'four' })
  }
  expect(followed).toEqual([two, { ...two, text: 'four' }])
})

test('a reader that leaves a log while nothing is printed ends it', async () => {
  const { ports } = await aSpace()
  const rows = await logRows(ports, asked({}, 'follow=true'))
  const reader = rows[Symbol.asyncIterator]()
  const pending = reader.next()
  expect(ports.children.followers.size).toBe(1)
  await reader.return?.()
  expect(await pending).toEqual({ done: true, value: undefined })
  expect(ports.children.followers.size).toBe(0)
})

test('what fails on the way, and is no refusal, ends the rows and is reported with its cause', async () => {
  const reported: AuthError[] = []
  const context = { requestId: 'request-1', report: (fault: AuthError) => void reported.push(fault) }
  const rows = progressRows(context, async (report) => {
    report({ step: 'uploaded' })
    throw new TypeError('the disk is gone')
  })
  const problem = { code: 'internal_error', status: 500, requestId: 'request-1' }
  expect(await all(rows)).toEqual([{ step: 'uploaded' }, { error: expect.objectContaining(problem) }])
  expect(reported.map(({ details }) => String(details.cause))).toEqual(['TypeError: the disk is gone'])
})
