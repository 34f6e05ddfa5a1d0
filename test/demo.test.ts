import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort, startProgram } from './support/program.js'

const root = fileURLToPath(new URL('..', import.meta.url))

test('npm run demo prints one address: a page with a link to the mailbox', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-demo-'))
  const env = { PORT: String(await freePort()), DATA_FOLDER: folder }
  const demo = startProgram('npm', ['run', 'demo'], { cwd: root, env })
  try {
    const [, page = ''] = await demo.printed(/Open (http:\S+)/)
    expect(demo.output().match(/https?:\/\/\S+/g)).toEqual([page])
    for (const address of [page, `${page}/mailbox`]) {
      const response = await fetch(address)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('<html')
    }
  } finally {
    await demo.stop()
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)
