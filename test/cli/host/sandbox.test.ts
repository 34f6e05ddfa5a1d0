import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasSandbox, ordinaryUser } from '../../support/sandboxed.js'
import { install, startServedHost } from '../../support/served-host.js'

const application = `
import { app } from 'codehooks-js'
import { readFile, readdir, writeFile } from 'node:fs/promises'
const outcome = (work) => work.then(() => 'works', (error) => error.code)
app.auth('/*', (req, res, next) => next())
app.get('/tries', async (req, res) => {
  const { folder } = req.query
  res.json({
    data: await outcome(readdir(folder)),
    database: await outcome(readFile(folder + '/host.db')),
    key: await outcome(readFile(folder + '/master.key')),
    passwords: await outcome(readFile('/etc/passwd')),
    temporary: await outcome(writeFile('/tmp/own', 'text')),
    pid: process.pid,
    paths: [...process.argv, ...process.execArgv, process.cwd()],
  })
})
app.get('/slow', (req, res) => setTimeout(() => res.send('slow'), 3_000))
export default app.init()
`

describe.skipIf(!hasSandbox)('a host with the sandbox', { timeout: 240_000 }, () => {
  test('ATK-230 ATK-233 ATK-277 deploys, answers, and shows an application nothing of the host, as an ordinary user', async () => {
    const host = await startServedHost({ isolation: 'sandbox' }, ordinaryUser)
    onTestFinished(() => host.stop())
    const project = join(host.desk.folder, 'shop')
    await mkdir(project)
    await install(project, 'codehooks-js')
    await writeFile(join(project, 'package.json'), '{ "type": "module" }')
    await writeFile(join(project, 'index.js'), application)
    for (const args of [['create', 'dev'], ['use', 'dev'], ['deploy']]) {
      const { code, stderr } = await host.desk.run(args, { folder: project })
      expect([args[0], stderr, code]).toEqual([args[0], expect.any(String), 0])
    }

    const data = join(host.desk.folder, 'host/latchkey-data')
    const tries = () => fetch(`${host.front}/dev/tries?folder=${data}`)
    const answer = await tries()
    const { paths, ...found }: Record<string, unknown> = JSON.parse(await answer.text())
    expect(found).toMatchObject({ temporary: 'works', pid: 1 })
    for (const name of ['data', 'database', 'key', 'passwords']) {
      expect([name, found[name]]).toEqual([name, expect.stringMatching(/^(ENOENT|ERR_ACCESS_DENIED)$/)])
    }
    expect(JSON.stringify(paths)).not.toContain(dirname(data))

    // A request that runs at the switch ends on the former child.
    const slow = fetch(`${host.front}/dev/slow`)
    expect((await host.desk.run(['deploy'], { folder: project })).code).toBe(0)
    expect(await (await slow).text()).toBe('slow')
    expect((await tries()).status).toBe(200)
  })
})
