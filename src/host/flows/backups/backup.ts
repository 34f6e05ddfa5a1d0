import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ActorEntry } from '../../../contract/actor.js'
import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { isoTime } from '../../../lib/iso-time.js'
import { isObject, parseJson } from '../../../lib/json-object.js'
import { readManifest, releasePaths } from '../../../model/release.js'
import type { Visitor } from '../../../model/visitor.js'
import { type BackupManifest, backupPaths, signedText } from '../../archives/backup-manifest.js'
import { type ArchiveWriter, packEntries } from '../../archives/pack-entries.js'
import { isReadable } from '../../archives/read-backup.js'
import type { KeyName, Snapshot, StoredDocument } from '../../ports.js'
import type { BackupRecord, SpaceRecord } from '../../store/spaces.js'
import { toActorEntry } from '../spaces/actor-entry.js'
import { findJudged, visitorIn } from '../spaces/find-space.js'
import { withFaults } from '../spaces/store-faults.js'
import { closing, linesFrom, pagesOf } from './export.js'
import type { BackupPorts } from './ports.js'
import { readSettings } from './restore-settings.js'

export interface Backup {
  /** The moment that the data is of, ISO 8601 in UTC. */
  time: string
  collections: number
  documents: number
  /** tar.gz. An error cuts it off. */
  archive: AsyncIterable<Uint8Array>
}

/**
 * A space with its data, indexes, key-value pairs, the release in force, and its settings, of which no secret is readable.
 * Everything of the data is of one moment, while the application goes on writing.
 *
 * @throws {AuthError} `space_not_found`, `store_unavailable`
 */
export async function backUp(
  ports: BackupPorts,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<Backup> {
  const space = await findJudged(ports, name, visitor)
  const snapshot = await withFaults(async () => (await ports.data.open(space.id, space.generation)).snapshot())
  try {
    const at = ports.clock.nowMs()
    const plan = await withFaults(() => planBackup(ports, { space, snapshot, at }))
    const { collections, release } = plan.manifest
    const documents = collections.reduce((sum, { count }) => sum + count, 0)
    const counts = { collections: collections.length, documents }
    const detail = { ...counts, release: release ?? 0 }
    await ports.audit.record(auditEvent(ports, 'backed_up', visitorIn(space, visitor), { detail }))
    const record = { id: ports.random.id(), spaceId: space.id, at: Math.floor(at / 1000), madeBy: visitor.actor }
    const archive = packEntries(
      (writer) => writeBackup(ports, plan, writer),
      (packed) => ports.backups.add({ ...record, ...packed }),
    )
    return { time: plan.manifest.time, ...counts, archive: closing(archive, () => snapshot.close()) }
  } catch (error) {
    await snapshot.close()
    throw error
  }
}

interface Plan {
  space: SpaceRecord
  snapshot: Snapshot
  manifest: BackupManifest
  indexes: string
  pairBytes: number
  settings: string
}

/** Everything that the first entry must know. */
async function planBackup(
  ports: BackupPorts,
  { space, snapshot, at }: { space: SpaceRecord; snapshot: Snapshot; at: number },
): Promise<Plan> {
  const listed = await snapshot.list()
  const pairs = await sizeOfLines(pairLines(snapshot))
  const indexes = listed.flatMap(({ name, indexes: own }) =>
    // A unique one that is being built may end with duplicates, and could then not be restored.
    own
      .filter(({ isUnique, state }) => !isUnique || state === 'ready')
      .map(({ field, isUnique }) => ({ collection: name, field, unique: isUnique })),
  )
  return {
    space,
    snapshot,
    manifest: {
      format: 1,
      space: { id: space.id, name: space.name },
      installation: ports.signer.sign('').keyId,
      time: new Date(at).toISOString(),
      release: space.release,
      collections: listed.map(({ name, count, bytes }) => ({ name, count, bytes })),
      pairs: pairs.lines,
    },
    indexes: readable(pretty({ indexes }), 'indexes'),
    pairBytes: pairs.bytes,
    settings: readable(pretty(await readSettings(ports, space)), 'settings'),
  }
}

/** A backup that no restore would take is refused. @throws {AuthError} `quota_exceeded` */
function readable(text: string, part: 'indexes' | 'settings'): string {
  if (isReadable(part, text)) return text
  const what = part === 'indexes' ? 'indexes' : 'API tokens and variables'
  throw new AuthError('quota_exceeded', { detail: `The space has more ${what} than a backup can hold. Remove some.` })
}

async function writeBackup(ports: BackupPorts, plan: Plan, archive: ArchiveWriter): Promise<void> {
  const { manifest, snapshot, space } = plan
  await archive.text(backupPaths.manifest, pretty(manifest))
  for (const [at, { name, count, bytes }] of manifest.collections.entries()) {
    // Each line ends with one byte.
    await archive.entry(backupPaths.collection(at + 1), bytes + count, documentLines(snapshot, name))
  }
  await archive.text(backupPaths.indexes, plan.indexes)
  await archive.entry(backupPaths.pairs, plan.pairBytes, pairLines(snapshot))
  if (space.release !== null) await writeRelease(ports.files.release(space.id, space.release), archive)
  await archive.text(backupPaths.settings, plan.settings)
  const entries = archive.written()
  await archive.text(backupPaths.checksums, pretty({ entries, signature: ports.signer.sign(signedText(entries)) }))
}

async function writeRelease(folder: string, archive: ArchiveWriter): Promise<void> {
  const text = await readFile(join(folder, releasePaths.manifest), 'utf8')
  const manifest = readManifest(text)
  if (!manifest) throw new AuthError('store_unavailable', { detail: 'The release in force cannot be read.' })
  await archive.text(`${backupPaths.release}${releasePaths.manifest}`, text)
  for (const { path, bytes } of manifest.files) {
    await archive.entry(`${backupPaths.release}${path}`, bytes, createReadStream(join(folder, path)))
  }
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The documents of a collection in `_id` order, several lines at once. */
async function* documentLines(snapshot: Snapshot, collection: string): AsyncGenerator<string> {
  for await (const documents of pagesOf(snapshot, collection)) {
    for (const document of documents) requireOwnId(collection, document)
    yield linesFrom(documents)
  }
}

/** The key-value pairs in order of keyspace and key, several lines at once. */
async function* pairLines(snapshot: Snapshot): AsyncGenerator<string> {
  let after: KeyName | null = null
  do {
    const from: KeyName | null = after
    const page: Awaited<ReturnType<Snapshot['pairs']>> = await withFaults(() => snapshot.pairs(from))
    yield page.rows.map((pair) => `${JSON.stringify(pair)}\n`).join('')
    after = page.next
  } while (after !== null)
}

async function sizeOfLines(texts: AsyncIterable<string>): Promise<{ lines: number; bytes: number }> {
  let [lines, bytes] = [0, 0]
  for await (const text of texts) {
    lines += text.split('\n').length - 1
    bytes += Buffer.byteLength(text)
  }
  return { lines, bytes }
}

/** A restore takes the `_id` from the document. Ours writes it first, so most need not be parsed. */
function requireOwnId(collection: string, { id, body }: StoredDocument): void {
  const start = `{"_id":${JSON.stringify(id)}`
  // Of two, the last would count. A name may be written with escapes, too.
  const isOnly = !body.includes('"_id"', start.length) && !body.includes('\\u', start.length)
  if (body.startsWith(start) && isOnly) return
  const document = parseJson(body)
  if (isObject(document) && document._id === id) return
  const cure = 'Remove it, or write it again by the application.'
  throw new AuthError('store_unavailable', {
    detail: `A document of ${collection} was stored under another _id than it has, so no backup could restore it. ${cure}`,
  })
}

/** A backup that was sent whole, as administrators see it. */
interface BackupEntry extends Pick<BackupRecord, 'bytes' | 'sha256'> {
  /** The moment that its data is of. */
  at: string
  madeBy: ActorEntry | null
}

/** The last ten, newest first. @throws {AuthError} `space_not_found` */
export async function listBackups(
  ports: Pick<BackupPorts, 'spaces' | 'backups'>,
  { space: name, visitor }: { space: string; visitor: Visitor },
): Promise<BackupEntry[]> {
  const { id } = await findJudged(ports, name, visitor)
  const backups = await ports.backups.list(id)
  return backups.map(({ at, bytes, sha256, madeBy }) => ({
    ...{ at: isoTime(at), bytes, sha256 },
    madeBy: toActorEntry(madeBy),
  }))
}
