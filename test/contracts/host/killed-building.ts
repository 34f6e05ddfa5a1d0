import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { StoragePlace } from '../../../src/host/storage/messages.js'
import { temporaryFolder } from '../../support/auth.js'
import { scanAll, scanOf } from '../../support/index-scans.js'
import { bundleSource, startDataThreads, threadProgramFile } from '../../support/storage-threads.js'

const writer = fileURLToPath(new URL('../../support/index-writer.ts', import.meta.url))

/** A process that builds an index is killed. `makePlace` is given a folder of its own. */
export function killedBuildingContract(name: string, makePlace: (folder: string) => Promise<StoragePlace>): void {
  test(`ATK-206 on ${name} an index whose building was killed goes on where it ended, and is complete and unique`, async () => {
    const folder = temporaryFolder()
    const program = await threadProgramFile()
    const script = join(folder, 'writer.mjs')
    writeFileSync(script, await bundleSource(`import ${JSON.stringify(writer)}`))
    const place = await makePlace(folder)
    const first = startDataThreads(program)
    const filling = await first.open({ spaceId: 'one', ...place })
    for (let part = 0; part < 8; part += 1) {
      const rows = Array.from({ length: 1_000 }, (_, n) => ({
        id: `d${part * 1_000 + n}`,
        body: JSON.stringify({ n: part * 1_000 + n }),
      }))
      await filling.documents.putMany('notes', rows, 'absent')
    }
    await first.close()

    let processed = 0
    for (const steps of [1, 2]) {
      const child = spawn(process.execPath, [script, JSON.stringify(place), program.href], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const ended = once(child, 'exit')
      let seen = 0
      for await (const line of createInterface({ input: child.stdout })) {
        const step: unknown = JSON.parse(line)
        const reached = Number(Object(step).processed)
        expect(reached).toBeGreaterThanOrEqual(processed)
        processed = reached
        seen += 1
        if (seen === steps) child.kill('SIGKILL')
      }
      await ended
    }

    const threads = startDataThreads(program)
    const { documents, indexes } = await threads.open({ spaceId: 'one', ...place })
    expect(await indexes.list('notes')).toMatchObject([{ field: 'n', isUnique: true }])
    let progress = await indexes.build('notes', 'n')
    expect(progress.processed).toBeGreaterThanOrEqual(processed)
    while (!progress.isReady) progress = await indexes.build('notes', 'n')
    const { ids } = await scanAll(indexes, 'notes', scanOf('n', { order: 1 }))
    expect(new Set(ids).size).toBe(await documents.count('notes'))
    expect(ids).toHaveLength(new Set(ids).size)
    for (const n of [0, 4_000, 7_999, -1]) {
      const again = documents.put('notes', 'again', JSON.stringify({ n }), 'absent')
      await expect(again).rejects.toMatchObject({ code: 'already_exists' })
    }
    await threads.close()
  })
}
