import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ImportTask } from '../../../src/host/workers/tasks.js'
import { createWorkers } from '../../../src/host/workers/workers.js'
import { queryProgram } from '../../support/query-program.js'
import { mingo } from '../../support/space-release.js'

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
