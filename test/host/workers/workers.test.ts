import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Job } from '../../../src/host/workers/job.js'
import type { ImportTask, QueryTask } from '../../../src/host/workers/tasks.js'
import { createWorkers } from '../../../src/host/workers/workers.js'
import { queryProgram } from '../../support/query-program.js'
import { mingo } from '../../support/space-release.js'
import { startDataThreads, threadProgram } from '../../support/storage-threads.js'

/** Workers over a space with so many documents of 10 KB. `pass` lets the time of all timers of half a second pass. */
async function querying(documents: number) {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-workers-'))
  const threads = startDataThreads(await threadProgram())
  const stretches = new Set<() => void>()
  const timer = (milliseconds: number, callback: () => void) => {
    if (milliseconds === 500) stretches.add(callback)
    return () => void stretches.delete(callback)
  }
  const workers = createWorkers({
    ...{ mingo, program: await queryProgram(folder), literalDots: false, documentBytes: 1_000, timer },
    onFault: () => {},
  })
  onTestFinished(async () => {
    await workers.close()
    await threads.close()
    await rm(folder, { recursive: true, force: true })
  })
  const data = await threads.open({ spaceId: 'one', file: join(folder, 'g1.db') })
  const text = JSON.stringify({ text: 'x'.repeat(10_000) })
  const rows = Array.from({ length: documents }, (_, n) => ({ id: `${n}`, body: text }))
  await data.documents.putMany('notes', rows, 'any')
  const task: QueryTask = {
    ...{ kind: 'query', collection: 'notes', options: {}, change: null },
    ...{ ifVersion: null, countOnly: false, versions: false },
  }
  return {
    start: () => workers.start({ id: 'one', data }, task),
    isStalled: () => stretches.size > 0,
    pass() {
      const due = [...stretches]
      stretches.clear()
      for (const callback of due) callback()
    },
  }
}

/** How many documents the job found. Reads all of its rows. */
async function countOf(job: Job): Promise<number> {
  for (;;) {
    const event = await job.next()
    if (event.kind === 'count') return event.count
  }
}

test('a query whose answer is in memory leaves its place to the next one, however slowly it is read', async () => {
  const { start } = await querying(50)
  const unread = [await start(), await start(), await start()]
  expect(await countOf(await start())).toBe(50)
  for (const job of unread) expect(await countOf(job)).toBe(50)
})

test('a query with many rows that are read slowly ends when another one waits for its place', async () => {
  const { start, isStalled, pass } = await querying(300)
  const slow = await start()
  const next = start()
  for (let stretch = 0; stretch < 4; stretch += 1) {
    await expect.poll(isStalled).toBe(true)
    pass()
  }
  expect(await countOf(await next)).toBe(300)
  await expect(countOf(slow)).rejects.toMatchObject({ code: 'busy', details: { retryAfterSeconds: 5 } })
})

test('a query with many rows may be read slowly while no other one waits', async () => {
  const { start, isStalled, pass } = await querying(300)
  const slow = await start()
  for (let stretch = 0; stretch < 40; stretch += 1) {
    await expect.poll(isStalled).toBe(true)
    pass()
  }
  expect(await countOf(slow)).toBe(300)
})

test('closing ends the tasks that run, and those that wait for their places do not start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-workers-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const workers = createWorkers({
    ...{ mingo, program: await queryProgram(folder), literalDots: false, documentBytes: 1_000 },
    timer: () => () => {},
    onFault: () => {},
  })
  const space = { id: 'one', data: { answer: () => Promise.reject(new Error('nothing is written')) } }
  const task: ImportTask = { kind: 'import', collection: 'notes', upsert: false, dryrun: true }
  async function* endless(): AsyncGenerator<Uint8Array> {
    await new Promise(() => {})
  }
  const running = await workers.start(space, task, endless())
  const next = expect(running.next()).rejects.toMatchObject({ code: 'store_unavailable' })
  const waiting = expect(workers.start(space, task, endless())).rejects.toMatchObject({ code: 'store_unavailable' })
  await workers.close()
  await next
  await waiting
  await expect(workers.start(space, task, endless())).rejects.toMatchObject({ code: 'store_unavailable' })
})
