import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sandboxIsolation } from '../../../src/host/children/sandbox.js'
import { openSupervisedWorkshop, type SupervisedWorkshop } from '../../support/supervised.js'

let workshop: SupervisedWorkshop
beforeAll(async () => {
  workshop = await openSupervisedWorkshop()
})
afterAll(() => workshop.close())

async function open(startMs: number) {
  const bubblewrap = join(workshop.folder, 'hangs.mjs')
  await writeFile(bubblewrap, `#!${process.execPath}\nsetInterval(() => {}, 1000)\n`, { mode: 0o755 })
  const isolate = async () => sandboxIsolation({ bubblewrap, launcher: [], filter: Buffer.alloc(0), system: [] })
  const host = await workshop.open({ isolate })
  host.deployed.set('dev', { bundle: 'prints', limits: { startMs } })
  return host
}

test('a bubblewrap that hangs is ended when the start has taken too long, and the release is not to blame', async () => {
  const host = await open(300)
  await expect(host.supervisor.start('dev')).rejects.toMatchObject({ code: 'application_starting' })
})

test('a bubblewrap that hangs does not keep a host from its end', async () => {
  const host = await open(600_000)
  const start = host.supervisor.start('dev').catch((error: unknown) => error)
  await host.supervisor.close()
  expect(await start).toMatchObject({ code: 'application_starting' })
})
