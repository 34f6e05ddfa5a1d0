import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { type CollectionsHostOptions, collectionsHost } from '../../../support/collections-host.js'
import { openDesk } from '../../../support/tool.js'

const script = fileURLToPath(new URL('../../../../examples/host/documents.sh', import.meta.url))
/** `LATCHKEY_SCRIPT_DOCUMENTS=1000000` runs it with a million. */
const documents = Number(process.env.LATCHKEY_SCRIPT_DOCUMENTS ?? 3_000)

/** The example script of data commands, from import to undo, wherever the data of spaces is. */
export function documentsScript(name: string, open: () => Promise<CollectionsHostOptions>): void {
  test(`on ${name} a script with nothing but an admin token does the whole of a day`, {
    timeout: 3_600_000,
  }, async () => {
    const host = await collectionsHost(await open())
    onTestFinished(host.close)
    await host.createSpace('dev')
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-script-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))

    const commands = ['import', 'createindex', 'removeindex', 'query', 'export', 'backup', 'restore']
    const { 'x-admintoken': token = '' } = await host.adminToken({ commands })
    const products = Array.from({ length: documents }, (_, n) => {
      const price = (n * 7_919) % documents
      return `${JSON.stringify({ _id: `p${String(n).padStart(7, '0')}`, price, text: 'x'.repeat(120) })}\n`
    })
    await writeFile(join(folder, 'products.jsonl'), products.join(''))
    const { main } = await openDesk()
    await writeFile(join(folder, 'latchkey'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
    await chmod(join(folder, 'latchkey'), 0o700)

    const run = () =>
      promisify(execFile)('sh', [script, 'products.jsonl', 'products', 'price'], {
        cwd: folder,
        env: {
          PATH: `${folder}:/usr/bin:/bin`,
          LATCHKEY_URL: host.adminUrl,
          LATCHKEY_ADMIN_TOKEN: token,
          LATCHKEY_SPACE: 'dev',
        },
      })
    // The second run finds what the first one has left.
    for (const collections of ['1 collection', '2 collections']) {
      const { stdout } = await run()
      const objects = documents * Number.parseInt(collections, 10)
      expect(stdout).toContain(`Finished import ${documents} objects`)
      expect(stdout).toContain(`Finished creating index for ${documents} objects`)
      expect(stdout).toContain('"price":2')
      expect(stdout).toMatch(new RegExp(`Backup of dev: ${collections}, ${objects} objects, sha256 [0-9a-f]{64}`))
      expect(stdout).toMatch(/^Restored dev to [-\dT:]{16}Z\. Undo within 24 h: latchkey restore --undo$/m)
      expect(stdout.trimEnd().split('\n').slice(-3)).toEqual([
        '0',
        'dev has the data of before again. Switch forth again within 24 h: latchkey restore --undo',
        String(documents),
      ])
    }
    const copy = { name: expect.stringMatching(/^copy-\d+$/), count: documents }
    expect((await host.call('GET', '/collections')).body).toMatchObject([
      copy,
      copy,
      { name: 'products', count: documents },
    ])
  })
}
