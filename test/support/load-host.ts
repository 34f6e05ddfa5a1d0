// A program: the front of a host, as an ordinary user. Its spaces put load on the machine in each mode, and it prints what became
// of them. `loads.test.ts` bundles and starts it.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Supervisor } from '../../src/host/children/supervisor.js'
import { isolationOf, type Site, superviseSite } from './host-of-site.js'
import { ask } from './space-child.js'

export interface LoadSite extends Site {
  home: string
  modes: readonly ('process' | 'sandbox')[]
  /** Paths that spaces of their own are asked for, all of one list at the same time. */
  rounds: readonly (readonly string[])[]
}

export interface Load {
  mode: string
  path: string
  /** What the application answered; null: nothing. */
  answer: string | null
  /** Effective capabilities of the child. */
  capabilities: string
  /** Name of the process that started the child. */
  parent: string
  /** Whether the process is gone, that of `parent` too unless it is this one. */
  isGone: boolean
  /** Whether a new process of the space answers afterwards. */
  isReplaced: boolean
  /** Whether a space beside it answers afterwards, from the process that it had before. */
  isOtherWell: boolean
  log: string
}

const mebibyte = 1024 * 1024
/** More than the 10 s after which silence and files are noticed. */
const waits = 250
const [siteText = ''] = process.argv.slice(2)
const site: LoadSite = JSON.parse(siteText)

const pause = () => new Promise((resolve) => setTimeout(resolve, 100))

async function factsOf(pid: number): Promise<Record<string, string> | null> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null)
  if (text === null) return null
  const facts: Record<string, string> = Object.fromEntries(text.split('\n').map((line) => line.split(/:\s+/)))
  // One that has ended, and is not yet waited for.
  return facts.State?.startsWith('Z') ? null : facts
}

async function request(supervisor: Supervisor, spaceId: string, path: string): Promise<string | null> {
  const child = await supervisor.child(spaceId).catch(() => null)
  const end = child?.begin()
  const answer = child && (await ask(child.socketPath, child.hopKey, path, {}).catch(() => null))
  end?.()
  return answer?.text ?? null
}

async function load(supervisor: Supervisor, mode: string, path: string): Promise<Load> {
  const spaceId = path.replaceAll('/', '-')
  const { pid } = await supervisor.start(spaceId)
  const facts = await factsOf(pid)
  const parentPid = Number(facts?.PPid)
  const parent = (await factsOf(parentPid))?.Name ?? ''
  const answered = request(supervisor, spaceId, `/dev/${path}`)
  if (path === 'open') process.kill(pid, 'SIGKILL')
  const isGone = async () =>
    (await factsOf(pid)) === null && (parent !== 'bwrap' || (await factsOf(parentPid)) === null)
  // A try that is refused leaves the child as it is.
  const mayLive = path.startsWith('try/') && JSON.parse((await answered) ?? '{}').code !== undefined
  for (let wait = 0; !mayLive && wait < waits && !(await isGone()); wait += 1) await pause()
  const gone = await isGone()
  const again = async () => (await request(supervisor, spaceId, '/dev/try/evil')) !== null
  let isReplaced = false
  for (let wait = 0; gone && !isReplaced && wait < waits; wait += 1) {
    isReplaced = (await again()) && supervisor.status(spaceId).pid !== pid
    if (!isReplaced) await pause()
  }
  const isOtherWell = (await request(supervisor, 'other', '/dev/try/evil')) !== null
  const log = supervisor.logs(spaceId).last(1_000)
  return {
    ...{ mode, path, parent, isGone: gone, isReplaced },
    answer: mayLive || gone ? await answered : null,
    capabilities: facts?.CapEff ?? '',
    isOtherWell: isOtherWell && supervisor.status('other').restarts === 0,
    log: log.map(({ text }) => text).join('\n'),
  }
}

const supervisors = await Promise.all(
  site.modes.map(async (mode) => ({
    mode,
    supervisor: await superviseSite(site, {
      runFolder: join(site.home, `run-${mode}`),
      isolation: await isolationOf(mode),
      hasNetwork: true,
      limitsOf: (spaceId) => ({
        memoryBytes: (spaceId === 'heap' ? 64 : 128) * mebibyte,
        temporaryBytes: 16 * mebibyte,
        // All start at once.
        startMs: 60_000,
      }),
    }),
  })),
)
for (const { supervisor } of supervisors) await supervisor.start('other')
const loads: Load[] = []
for (const paths of site.rounds) {
  const round = supervisors.flatMap(({ mode, supervisor }) => paths.map((path) => load(supervisor, mode, path)))
  loads.push(...(await Promise.all(round)))
}
process.stdout.write(JSON.stringify({ uid: process.getuid?.() ?? -1, version: process.version, loads }))
if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
process.exit(0)
