// A program: the front of a host, as an ordinary user. It starts hostile applications in each mode, lets them try everything, and
// prints what became of it. The test that starts it bundles it, because that user may not read the repository.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import type { Seen } from '../../src/host/children/node-options.js'
import type { Supervisor } from '../../src/host/children/supervisor.js'
import { type Attempt, type EscapeReport, type EscapeSite, escapeModes, type ModeName } from './escape-report.js'
import { isolationOf, superviseSite } from './host-of-site.js'
import { ask } from './space-child.js'

const [siteText = ''] = process.argv.slice(2)
const site: EscapeSite = JSON.parse(siteText)
const tries: EscapeReport['tries'] = []
const changed: EscapeReport['changed'] = {}

const memoryOnly = ({ memoryBytes }: Seen) => [`--max-old-space-size=${Math.ceil(memoryBytes / 1024 / 1024)}`]

async function open(mode: ModeName, runFolder: string): Promise<Supervisor> {
  const { hasPermissionModel, hasWall, hasNetwork } = escapeModes[mode]
  const isolation = await isolationOf(
    mode === 'process' ? 'process' : 'sandbox',
    hasPermissionModel ? {} : { optionsOf: memoryOnly },
  )
  const runner = hasWall ? site.runner : site.openRunner
  return superviseSite({ ...site, runner }, { runFolder, isolation, hasNetwork })
}

async function tryAll(mode: ModeName, listening: { port: number; socket: string; abstract: string }): Promise<void> {
  // Of each mode its own: what one breaks, another one finds whole.
  await rm(site.data, { recursive: true, force: true })
  const secrets = await plantSecrets()
  const before = await stateOf(site.data)
  const runFolder = join(site.home, `run-${tries.length}`)
  const supervisor = await open(mode, runFolder)
  const sibling = await supervisor.start('sibling')
  await supervisor.start('hostile')
  const child = await supervisor.child('hostile')
  const place = {
    ...{ ...listening, home: site.home, secrets, front: process.pid, sibling: sibling.pid },
    folders: [site.data, dirname(secrets[1] ?? ''), '/root', '/home'],
    siblingSocket: (await supervisor.child('sibling')).socketPath,
    systemFiles: ['/etc/passwd', '/etc/hostname', '/etc/machine-id', `/proc/${process.pid}/environ`],
    systemFolders: [
      '/',
      '/etc',
      '/usr',
      '/usr/lib',
      '/dev/shm',
      '/dev',
      '/run',
      '/proc',
      '/var/tmp',
      '/app',
      '/latchkey',
    ],
  }
  const send = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const { text } = await ask(child.socketPath, child.hopKey, path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return JSON.parse(text)
  }
  const names: [string, string][] = await send('/dev/names', place)
  for (const [group, name] of names) {
    const result: Pick<Attempt, 'loot' | 'code'> = await send('/dev/try', { place, group, name }).catch(
      (error: unknown) => {
        const log = supervisor
          .logs('hostile')
          .last(20)
          .map(({ text }) => text)
        throw new Error(`${mode} ${group} ${name}: ${error}\n${log.join('\n')}`)
      },
    )
    tries.push({
      mode,
      group,
      name: name.replaceAll(site.home, 'HOME').replaceAll(String(process.pid), 'PID'),
      ...result,
    })
  }
  const after = await stateOf(site.data)
  changed[mode] = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (path) => before[path] !== after[path],
  )
  // Its processes end with this one. Those that will not end by themselves would be waited for.
  void supervisor.close()
}

/** A database, a key, and the release of another space, as they lie in the folder of a host. */
async function plantSecrets(): Promise<string[]> {
  const release = join(site.data, 'spaces/other/releases/1')
  await mkdir(release, { recursive: true, mode: 0o700 })
  const files = [join(site.data, 'host.db'), join(site.data, 'master.key'), join(release, 'bundle.mjs')]
  const contents = [await readFile(site.database), 'CANARY=master key\n', 'export default "CANARY"\n']
  for (const [index, file] of files.entries()) await writeFile(file, contents[index] ?? '', { mode: 0o600 })
  return files
}

/** Names, contents, rights and times of all below a folder. */
async function stateOf(folder: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {}
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name)
    const { mode, mtimeMs, isDirectory } = await lstat(path).then((stats) => ({
      mode: stats.mode,
      mtimeMs: stats.mtimeMs,
      isDirectory: stats.isDirectory(),
    }))
    const content = isDirectory ? '' : await readFile(path, 'latin1').catch(() => '?')
    state[path] = createHash('sha256').update(`${mode} ${mtimeMs} ${content}`).digest('hex')
  }
  return state
}

function listen(where: string | { host: string; port: number }): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => {}).end())
    server.on('error', reject)
    server.listen(where, () => resolve(server))
  })
}

const socket = join(site.home, 'host.sock')
const abstract = `latchkey-escape-${process.pid}`
const tcp = await listen({ host: '127.0.0.1', port: 0 })
const servers = [tcp, await listen(socket), await listen(`\0${abstract}`)]
const address = tcp.address()
const port = typeof address === 'object' && address !== null ? address.port : 0
for (const mode of site.modes) await tryAll(mode, { port, socket, abstract })
for (const server of servers) server.close()
process.stdout.write(JSON.stringify({ tries, changed, uid: process.getuid?.() ?? -1, version: process.version }))
if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
process.exit(0)
