// A program: the front of a host, as an ordinary user. It starts hostile applications in each mode, lets them try everything, and
// prints what became of it. The test that starts it bundles it, because that user may not read the repository.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import type { Isolation, Seen } from '../../src/host/children/isolation.js'
import type { Supervisor } from '../../src/host/children/supervisor.js'
import { type Attempt, type EscapeReport, type EscapeSite, escapeModes, type ModeName } from './escape-report.js'
import { isolationOf, noIsolation, superviseSite } from './host-of-site.js'
import { ask } from './space-child.js'

const [siteText = ''] = process.argv.slice(2)
const site: EscapeSite = JSON.parse(siteText)
const tries: EscapeReport['tries'] = []
const changed: EscapeReport['changed'] = {}

/** The folder for reports is there to be named: the walls hide the flags of Node. */
const fewOptions = ({ memoryBytes, releaseFolder }: Seen) => [
  `--max-old-space-size=${Math.ceil(memoryBytes / 1024 / 1024)}`,
  `--report-directory=${releaseFolder}`,
]

async function open(mode: ModeName, runFolder: string): Promise<Supervisor> {
  const { hasWall, hasNetwork } = escapeModes[mode]
  const runner = hasWall ? site.runner : site.openRunner
  return superviseSite({ ...site, runner }, { runFolder, isolation: await isolate(mode), hasNetwork })
}

async function isolate(mode: ModeName): Promise<Isolation> {
  const { hasSandbox, hasPermissionModel } = escapeModes[mode]
  if (!hasSandbox) return hasPermissionModel ? isolationOf('process') : noIsolation(fewOptions)
  return isolationOf('sandbox', hasPermissionModel ? {} : { optionsOf: fewOptions })
}

interface Listening {
  port: number
  socket: string
  abstract: string
}

async function tryAll(mode: ModeName, listening: Listening): Promise<void> {
  const secrets = await plantSecrets()
  const planted = await stateOf(site.data)
  const runFolder = join(site.home, `run-${tries.length}`)
  const supervisor = await open(mode, runFolder)
  const sibling = await supervisor.start('sibling')
  await supervisor.start('hostile')
  const siblingSocket = await pathOfSocket(mode, sibling.pid, (await supervisor.child('sibling')).socketPath)
  const place = { ...(await placeOf(secrets)), ...listening, sibling: sibling.pid, siblingSocket }
  const names = await post<[string, string][]>(supervisor, '/dev/names', place)
  const isOpen = mode === 'no walls'
  for (const [group, name] of names) {
    // What one try breaks, another one finds whole.
    if (isOpen) await plantSecrets()
    const before = isOpen ? await stateOf(site.data) : {}
    const send = () => post<Result>(supervisor, '/dev/try', { place, group, name })
    // Node 20 may crash when it takes a snapshot of the heap in a process that has tried much before.
    const sendAgain = () => supervisor.start('hostile').then(send)
    const result = await (isOpen ? send().catch(sendAgain) : send()).catch((error: unknown) => {
      throw new Error(`${mode} ${group} ${name}: ${error}\n${lastLines(supervisor)}`)
    })
    if (isOpen) note(mode, before, await stateOf(site.data))
    const shown = name.replaceAll(site.home, 'HOME').replaceAll(String(process.pid), 'PID')
    tries.push({ mode, group, name: shown, ...result })
  }
  if (!isOpen) note(mode, planted, await stateOf(site.data))
  for (const folder of place.systemFolders) await rm(join(folder, 'latchkey-escape'), { force: true }).catch(() => {})
  // Its processes end with this one. Those that will not end by themselves would be waited for.
  void supervisor.close()
}

/** The front has the socket open, and knows it by a descriptor of its own. */
async function pathOfSocket(mode: ModeName, pid: number, socketPath: string): Promise<string> {
  const path = await readlink(socketPath)
  return escapeModes[mode].hasSandbox ? `/proc/${pid}/root${path}` : path
}

type Result = Pick<Attempt, 'loot' | 'code'>

async function post<Answer>(supervisor: Supervisor, path: string, body: object): Promise<Answer> {
  const child = await supervisor.child('hostile')
  const headers = { 'content-type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify(body) }
  return JSON.parse((await ask(child.socketPath, child.hopKey, path, sent)).text)
}

function lastLines(supervisor: Supervisor): string {
  const lines = supervisor.logs('hostile').last(20)
  return lines.map(({ text }) => text).join('\n')
}

/** What there is on this machine, and what an ordinary user may read of it. */
async function placeOf(secrets: readonly string[]) {
  const systemFiles = ['/etc/passwd', '/etc/hostname', '/etc/machine-id', `/proc/${process.pid}/environ`]
  return {
    ...{ home: site.home, secrets, front: process.pid, frontGroup: await groupOf(process.pid) },
    folders: [site.data, dirname(secrets[2] ?? ''), '/usr/sbin', '/var'],
    systemFiles: systemFiles.filter((path) => existsSync(path)),
    systemFolders: [
      ...['/', '/etc', '/usr', '/usr/lib', '/dev/shm', '/dev', '/run', '/proc', '/var/tmp', '/app', '/latchkey'],
    ],
  }
}

async function groupOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
}

function note(mode: ModeName, before: Record<string, string>, after: Record<string, string>): void {
  const paths = [...Object.keys(before), ...Object.keys(after)].filter((path) => before[path] !== after[path])
  changed[mode] = [...new Set([...(changed[mode] ?? []), ...paths])]
}

/** A database, a key, and the release of another space, as they lie in the folder of a host. */
async function plantSecrets(): Promise<string[]> {
  await rm(site.data, { recursive: true, force: true })
  await writeFile(join(site.releaseFolder, 'bundle.mjs'), bundle)
  const release = join(site.data, 'spaces/other/releases/1')
  await mkdir(release, { recursive: true, mode: 0o700 })
  const files = [join(site.data, 'host.db'), join(site.data, 'master.key'), join(release, 'bundle.mjs')]
  const contents = [await readFile(site.database), 'CANARY=master key\n', 'export default "CANARY"\n']
  for (const [index, file] of files.entries()) await writeFile(file, contents[index] ?? '', { mode: 0o600 })
  return files
}

/** Names, contents, rights and times of all below a folder. Links are not followed. */
async function stateOf(folder: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {}
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const { mode, mtimeMs } = await lstat(path)
    const content = entry.isFile() ? await readFile(path, 'latin1').catch(() => '?') : ''
    state[path] = createHash('sha256').update(`${mode} ${mtimeMs} ${content}`).digest('hex')
    if (entry.isDirectory()) Object.assign(state, await stateOf(path))
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
const bundle = await readFile(join(site.releaseFolder, 'bundle.mjs'))
process.on('SIGUSR1', () => {})
const servers = [tcp, await listen(socket), await listen(`\0${abstract}`)]
const address = tcp.address()
const port = typeof address === 'object' && address !== null ? address.port : 0
for (const mode of site.modes) await tryAll(mode, { port, socket, abstract })
for (const server of servers) server.close()
process.stdout.write(JSON.stringify({ tries, changed, uid: process.getuid?.() ?? -1, version: process.version }))
if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
process.exit(0)
