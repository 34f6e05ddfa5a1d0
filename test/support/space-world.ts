import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ActorEntry } from '../../src/contract/actor.js'
import { AuthError } from '../../src/errors.js'
import type { SpacePorts } from '../../src/host/flows/spaces/ports.js'
import { readStartFacts, type StartFacts } from '../../src/host/flows/spaces/start-facts.js'
import { createUploads } from '../../src/host/flows/spaces/uploads.js'
import { createSpaceDirectory, type OpenSpaceDirectory } from '../../src/host/front/directory.js'
import type { Children, PrintedLine } from '../../src/host/ports.js'
import { createSpaceFiles } from '../../src/host/releases/space-files.js'
import { newMasterKey, parseMasterKeys } from '../../src/host/sealing/master-keys.js'
import { createSealer } from '../../src/host/sealing/space-keys.js'
import { defaultVariableLimits } from '../../src/host/sealing/variables.js'
import type { SpaceNouns } from '../../src/host/store/spaces.js'
import { createSpaceNouns } from '../../src/host/store/sql/host-extension.js'
import { addSpaces } from '../../src/host/store/sql/migrations/0002-spaces.js'
import { addBackups } from '../../src/host/store/sql/migrations/0003-backups.js'
import { addClaimHolders } from '../../src/host/store/sql/migrations/0004-claims.js'
import { createRandom } from '../../src/lib/random.js'
import type { Change } from '../../src/model/change.js'
import { defaultReleaseLimits } from '../../src/model/release.js'
import type { Visitor } from '../../src/model/visitor.js'
import { isLastByRole } from '../../src/store/accounts/last-admin.js'
import { openExtended, type SqlStoreOptions } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { storeOptions } from './databases.js'
import { archiveOf, releaseContents } from './release-archive.js'

/** The folder of a host, its clock and its key. They outlive its processes. */
export interface HostFolder {
  path: string
  /** The URL of its PostgreSQL database. Default: files in the folder. */
  database?: string
  clock: { nowMs: number }
  masterKey: { text: string }
}

/** One process of the host. */
export interface SpaceProcess {
  nouns: SpaceNouns
  store: Store
  changes: Change[]
  ports: SpacePorts & { directory: OpenSpaceDirectory; children: StubChildren }
  /** Calls back what `ports.timer` was asked for, as if that time had passed. */
  passTime(): Promise<void>
}

export const admin: Visitor = {
  ip: '192.0.2.9',
  userAgent: 'Browser/1.0',
  actor: { kind: 'user', userId: 'ann', sessionId: 'ann-session', impersonating: null },
}

export async function hostFolder(): Promise<HostFolder> {
  const path = await mkdtemp(join(tmpdir(), 'latchkey-host-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return { path, clock: { nowMs: 1_700_000_000_000 }, masterKey: { text: newMasterKey() } }
}

/** Opens the store of the folder, with children that are none. Closes it when the test ends. */
export async function openProcess(host: HostFolder): Promise<SpaceProcess> {
  const process = await openOutsideTests(host)
  onTestFinished(() => process.store.close())
  return process
}

/** The same, closed by the caller. */
export async function openOutsideTests(host: HostFolder): Promise<SpaceProcess> {
  const changes: Change[] = []
  const { store, nouns } = await openExtended(
    {
      ...storeOptions({ onChange: (change) => changes.push(change) }),
      database: databaseOf(host),
      now: () => host.clock.nowMs,
    },
    {
      migrations: { '0002-spaces': addSpaces, '0003-backups': addBackups, '0004-claims': addClaimHolders },
      migrationsTable: 'latchkey_host_migrations',
      isLastAdmin: isLastByRole,
      nouns: createSpaceNouns,
    },
  )
  const { timer, passTime } = createTimers()
  const files = createSpaceFiles(host.path, { mayWrite: () => true })
  const sealer = createSealer(() => parseMasterKeys(host.masterKey.text))
  const directory = createSpaceDirectory(({ id, name }) => ({
    id,
    name,
    guard: {
      decide: () => ({ kind: 'answer', response: { status: 401, headers: {}, body: null } }),
      watch: () => () => {},
    },
    limits: { requestMs: 1, streamBytes: 1, headersBytes: 1, connections: 1 },
    child: () => Promise.reject(new AuthError('application_starting')),
  }))
  const nowMs = () => host.clock.nowMs
  const random = createRandom()
  const ports = {
    ...nouns,
    files,
    sealer,
    directory,
    children: createStubChildren((id, number) => readStartFacts({ ...nouns, sealer, files }, id, number)),
    timer,
    monotonic: nowMs,
    clock: { now: () => Math.floor(nowMs() / 1000), nowMs, monotonicMs: nowMs },
    random,
    // Time that passes is that of leases: no upload stalls by it.
    uploads: createUploads({ timer: () => () => {}, monotonic: nowMs, id: random.id, isFull: () => false }),
    nameOf: async ({ kind, id }: ActorEntry) => (kind === 'user' ? `${id}@example.org` : kind),
    baseUrl: 'https://api.example.org',
    limits: { release: defaultReleaseLimits, releases: 10, environment: defaultVariableLimits },
  }
  return { nouns, store, changes, ports, passTime }
}

function databaseOf({ path, database }: HostFolder): SqlStoreOptions['database'] {
  return database === undefined ? { kind: 'sqlite', file: join(path, 'host.db') } : { kind: 'postgres', url: database }
}

function createTimers(): { timer: SpacePorts['timer']; passTime(): Promise<void> } {
  const waiting = new Set<() => void>()
  return {
    timer(_milliseconds, callback) {
      waiting.add(callback)
      return () => void waiting.delete(callback)
    },
    async passTime() {
      const due = [...waiting]
      waiting.clear()
      // Some return a promise of what they began. What others began gets a moment.
      await Promise.all(due.map((callback) => callback()))
      await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

export interface StubChildren extends Children {
  /** What runs, by space. */
  running: Map<string, StartFacts>
  starts: StartFacts[]
  lines: PrintedLine[]
  followers: Set<(line: PrintedLine) => void>
  print(line: PrintedLine): void
}

/** Bundles with this text do not start. */
export const faultyCode = 'throw new Error("at import")\n'

/** Reads what a start needs as the host does, and runs nothing. */
function createStubChildren(facts: (spaceId: string, number?: number) => Promise<StartFacts>): StubChildren {
  const running = new Map<string, StartFacts>()
  const starts: StartFacts[] = []
  const lines: PrintedLine[] = []
  const followers = new Set<(line: PrintedLine) => void>()
  const stop = async (spaceId: string) => void running.delete(spaceId)
  return {
    running,
    starts,
    lines,
    followers,
    print(line) {
      lines.push(line)
      for (const follower of followers) follower(line)
    },
    async start(spaceId, number) {
      const found = await facts(spaceId, number)
      starts.push(found)
      const code = await readFile(join(found.releaseFolder, 'bundle.mjs'), 'utf8')
      if (code === faultyCode) throw new AuthError('bundle_invalid', { detail: 'It throws at import. (index.js:1:7)' })
      running.set(spaceId, found)
      return { warnings: [] }
    },
    stop,
    remove: stop,
    status(spaceId) {
      const release = running.get(spaceId)?.release ?? null
      return {
        state: release === null ? 'stopped' : 'ready',
        release,
        memoryBytes: 0,
        restarts: 0,
        requests: 0,
        draining: [],
      }
    },
    logs: () => ({
      last: (count, { level } = {}) =>
        lines.filter((line) => level === undefined || line.level === level).slice(-count),
      follow(callback) {
        followers.add(callback)
        return () => followers.delete(callback)
      },
    }),
  }
}

/** In pieces, as a network brings it. */
export async function* inPieces(archive: Uint8Array, size = 300): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size)
}

/** An upload of a small release with this code. */
export async function archiveWith(code: string): Promise<AsyncIterable<Uint8Array>> {
  return inPieces(await archiveOf({ ...releaseContents, 'bundle.mjs': code }))
}
