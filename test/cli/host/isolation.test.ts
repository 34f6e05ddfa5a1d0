import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseMasterKeys } from '../../../src/host/sealing/master-keys.js'
import { createSpaceKey } from '../../../src/host/sealing/space-keys.js'
import { freePort } from '../../support/program.js'
import { hasSandbox, ordinaryUser } from '../../support/sandboxed.js'

const main = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))
const user = process.getuid?.() === 0 ? { uid: ordinaryUser, gid: ordinaryUser } : {}

const spaceId = 'S'.repeat(22)

interface Place {
  data: string
  serve(settings?: object, before?: readonly string[]): Promise<Served>
}

interface Served {
  /** It served, and was asked to end then. */
  hasStarted: boolean
  code: number | null
  output: string
}

/** The folder of a host that an ordinary user runs by the built `latchkey serve`. */
async function openPlace(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-isolation-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const folder = join(root, 'host')
  await mkdir(folder)
  await chmod(root, 0o755)
  const [listen, adminListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const places = { baseUrl: `http://${listen}`, listen, adminUrl: `http://${adminListen}`, adminListen }
  const config = join(folder, 'latchkey.host.json')
  return {
    data: join(folder, 'latchkey-data'),
    async serve(settings = {}, before = []) {
      await writeFile(config, JSON.stringify({ ...places, auth: { password: { checkBreached: false } }, ...settings }))
      if (user.uid !== undefined) for (const path of [folder, config]) await chown(path, user.uid, user.uid)
      return run([...before, process.execPath, main, 'serve'], folder)
    },
  }
}

async function run([file = '', ...args]: readonly string[], cwd: string): Promise<Served> {
  const child = spawn(file, args, { cwd, ...user, stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, hasStarted] = ['', false]
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (hasStarted || !output.includes('is served at')) return
      hasStarted = true
      child.kill('SIGTERM')
    })
  }
  const [code] = await once(child, 'close')
  return { hasStarted, code, output }
}

/** Folders of the user who runs the host. */
async function makeOwn(...folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    await mkdir(folder)
    if (user.uid !== undefined) await chown(folder, user.uid, user.uid)
  }
}

/** A command that runs another one on this machine, seen otherwise. */
function onMachine(...changes: readonly string[]): string[] {
  return ['/usr/bin/bwrap', '--die-with-parent', '--dev-bind', '/', '/', ...changes, '--']
}

function withoutBubblewrap(): string[] {
  const folders = ['/usr/bin', '/usr/local/bin'].filter((path) => existsSync(path))
  const hidden = folders.flatMap((path) => ['--tmpfs', path])
  return onMachine(...hidden, '--dev-bind', process.execPath, process.execPath)
}

describe.skipIf(!hasSandbox)('a host of which the sandbox has worked', { timeout: 240_000 }, () => {
  test('ATK-278 ends with 1 where bubblewrap is gone, and is never weaker before process is written out', async () => {
    const { serve } = await openPlace()
    expect(await serve()).toMatchObject({ hasStarted: true, code: 0, output: expect.not.stringContaining('sandbox') })
    const refused = await serve({}, withoutBubblewrap())
    expect(refused).toMatchObject({ hasStarted: false, code: 1 })
    expect(refused.output).toContain('isolation: was the sandbox, which does not work any more')
    expect(refused.output).toContain('bubblewrap is not installed. Install it: apt-get install bubblewrap')
    expect(refused.output).toContain("Or write isolation: 'process'")
    expect(refused.output).not.toMatch(/^ +at /m)
    expect(await serve({ isolation: 'process' }, withoutBubblewrap())).toMatchObject({ hasStarted: true })
    expect(await serve()).toMatchObject({ hasStarted: true, code: 0 })
  })

  test('removes what spaces wrote before they had one', async () => {
    const { data, serve } = await openPlace()
    expect((await serve({ isolation: 'process' })).hasStarted).toBe(true)
    const database = new Database(join(data, 'host.db'))
    const key = createSpaceKey(parseMasterKeys(await readFile(join(data, 'master.key'), 'utf8')), spaceId)
    const columns = 'id, name, created_at, last_release, generation, data_key, claim_epoch, claim_until_ms'
    const row = `'${spaceId}', 'dev', 0, 0, 1, '${key.wrapped}', 0, 0`
    database.exec(`insert into latchkey_spaces (${columns}) values (${row})`)
    database.close()
    const temporary = join(data, 'spaces', spaceId, 'tmp')
    await makeOwn(join(data, 'spaces', spaceId), temporary)
    await writeFile(join(temporary, 'left'), 'left')
    expect(await serve({ isolation: 'sandbox' })).toMatchObject({ hasStarted: true })
    expect(existsSync(temporary)).toBe(false)
  })
})

describe.skipIf(!hasSandbox)('a host without room for a first try of the sandbox', { timeout: 240_000 }, () => {
  test.each(['auto', 'sandbox'])('ATK-278 ends with 1 and names the disk, by %s', async (isolation) => {
    const { data, serve } = await openPlace()
    expect(await serve({ isolation: 'process' })).toMatchObject({ hasStarted: true })
    const run = join(data, 'run')
    const small = onMachine('--perms', '0700', '--size', '4096', '--tmpfs', run)
    const full = [...small, 'sh', '-c', 'head -c 8192 /dev/zero > "$0/full" 2> /dev/null; exec "$@"', run]
    const refused = await serve({ isolation }, full)
    expect(refused).toMatchObject({ hasStarted: false, code: 1 })
    expect(refused.output).toContain(`data: the disk of ${data} is full. Free some space.`)
    expect(refused.output).not.toMatch(/^ +at /m)
    expect(await readdir(run)).toEqual([])
  })
})

describe.skipIf(!hasSandbox)('a host that cannot note that its sandbox works', { timeout: 240_000 }, () => {
  test('ATK-278 ends with 1, because a later start could be weaker by itself', async () => {
    const { data, serve } = await openPlace()
    expect(await serve({ isolation: 'process' })).toMatchObject({ hasStarted: true })
    const database = new Database(join(data, 'host.db'))
    database.exec(
      "create trigger full before insert on latchkey_sandbox begin select raise(fail, 'database or disk is full'); end",
    )
    database.close()
    const refused = await serve()
    expect(refused).toMatchObject({ hasStarted: false, code: 1 })
    expect(refused.output).toContain(
      'isolation: works as a sandbox, which the store could not note: database or disk is full.',
    )
    expect(refused.output).not.toMatch(/^ +at /m)
  })
})
