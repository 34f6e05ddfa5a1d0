import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../support/auth.js'
import { bundleSource, startDataThreads, threadProgramFile } from '../../support/storage-threads.js'

const writer = fileURLToPath(new URL('../../support/storage-writer.ts', import.meta.url))

interface Confirmed {
  id: string
  version: number
  writer: number
  sum: number
}

test('after kill -9 at random moments of writing every confirmed write is there, and no version comes again', async () => {
  const folder = temporaryFolder()
  const program = await threadProgramFile()
  const script = join(folder, 'writer.mjs')
  writeFileSync(script, await bundleSource(`import ${JSON.stringify(writer)}`))

  for (const [round, writes] of [1, 17, 60, 151].entries()) {
    const file = join(folder, `g${round}.db`)
    const child = spawn(process.execPath, [script, file, program.href], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const confirmed: Confirmed[] = []
    const ended = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) {
      confirmed.push(JSON.parse(line))
      if (confirmed.length === writes) child.kill('SIGKILL')
    }
    await ended

    const threads = startDataThreads(program)
    const { documents, keyValues } = await threads.open({ spaceId: 'one', file: file })
    for (const { id, version } of confirmed) expect(await documents.get('notes', id)).toMatchObject({ version })
    for (const { writer: number, sum } of confirmed) {
      expect(Number(await keyValues.get({ keyspace: '', key: `w${number}` }))).toBeGreaterThanOrEqual(sum)
    }
    const scanned = await documents.scan('notes', { after: null, reverse: false, limit: 10_000 })
    expect(await documents.count('notes')).toBe(scanned.documents.length)
    expect((await documents.count('lists')) % 20).toBe(0)
    const highest = Math.max(...confirmed.map(({ version }) => version))
    expect(await documents.put('notes', 'next', '{}', 'absent')).toBeGreaterThan(highest)
    await threads.close()
  }
})
