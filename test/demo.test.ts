import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort, startProgram } from './support/program.js'

const root = fileURLToPath(new URL('..', import.meta.url))

test('npm run demo serves a page and prints where it and its mailbox are', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-demo-'))
  const env = { PORT: String(await freePort()), DATA_FOLDER: folder }
  const demo = startProgram('npm', ['run', 'demo'], { cwd: root, env })
  try {
    const [, page = ''] = await demo.printed(/Open (http:\S+)/)
    const [mailbox] = await demo.printed(/http:\S+\/dev\/mailbox\?key=[\w-]+/)
    for (const address of [page, mailbox]) {
      const response = await fetch(address)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('<html')
    }
  } finally {
    await demo.stop()
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)
