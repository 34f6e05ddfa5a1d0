import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { onTestFinished } from 'vitest'
import { signedText } from '../../src/host/archives/backup-manifest.js'
import { backUp } from '../../src/host/flows/backups/backup.js'
import type { BackupPorts } from '../../src/host/flows/backups/ports.js'
import { deploy } from '../../src/host/flows/spaces/deploy.js'
import { createSpace } from '../../src/host/flows/spaces/spaces.js'
import type { MasterKeys } from '../../src/host/sealing/master-keys.js'
import { type BackupBed, sqliteBed } from './backup-bed.js'
import { dataLimits, openBackupProcess, space } from './backup-process.js'
import { type ArchiveEntry, tarOf } from './release-archive.js'
import { admin, archiveWith, type HostFolder } from './space-world.js'
import { threadProgram } from './storage-threads.js'

/** Of a data thread. */
export const program = await threadProgram()

/** As `openBackupProcess`, and closes it when the test ends. */
export async function openBackups(host: HostFolder, limits = dataLimits) {
  const opened = await openBackupProcess(host, program, limits)
  onTestFinished(opened.close)
  return opened
}

/** The same on a new host with the space `dev`, which has the release 1. */
export async function backupWorld(limits = dataLimits, bed: Pick<BackupBed, 'host'> = sqliteBed) {
  const opened = await openBackups(await bed.host(), limits)
  const { ports } = opened
  const { id } = await createSpace(ports, { name: space, visitor: admin })
  await deploy(ports, { space, archive: await archiveWith('first'), dirty: null, visitor: admin }, () => {})
  return { ...opened, id, data: await ports.data.open(id, 1) }
}

export async function backUpNow(ports: BackupPorts, name = space): Promise<Buffer> {
  const { archive } = await backUp(ports, { space: name, visitor: admin })
  return buffer(archive)
}

/** The data in force. */
export async function inForce(ports: BackupPorts, id: string) {
  const { generation = 0 } = (await ports.spaces.find(id)) ?? {}
  return ports.data.open(id, generation)
}

/** An entry of an archive with its content. */
export type Entry = ArchiveEntry & { content: string }

export async function entriesIn(archive: Uint8Array): Promise<Entry[]> {
  const entries = extract()
  Readable.from([gunzipSync(archive)]).pipe(entries)
  const found: Entry[] = []
  for await (const entry of entries) {
    const bytes = await buffer(entry)
    found.push({ name: entry.header.name, content: bytes.toString() })
  }
  return found
}

export async function packed(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries))
}

/** The entries with a list of checksums that is true, signed by these keys. */
export function signedBy(signer: Pick<MasterKeys, 'sign'>, entries: readonly Entry[]): Entry[] {
  const listed = entries
    .filter(({ name }) => name !== 'checksums.json')
    .map(({ name, content }) => ({
      path: name,
      bytes: Buffer.byteLength(content),
      sha256: createHash('sha256').update(content).digest('hex'),
    }))
  const content = JSON.stringify({ entries: listed, signature: signer.sign(signedText(listed)) })
  return [...entries.filter(({ name }) => name !== 'checksums.json'), { name: 'checksums.json', content }]
}

/** An archive of this installation with other contents, such as only a thief of its key could make. */
export async function forged(
  ports: BackupPorts,
  archive: Uint8Array,
  change: (entries: Entry[]) => readonly Entry[],
): Promise<Buffer> {
  return packed(signedBy(ports.signer, change(await entriesIn(archive))))
}

/** The entries with the text of one of them replaced. */
export function withText(entries: readonly Entry[], name: string, change: (text: string) => string): Entry[] {
  return entries.map((entry) => (entry.name === name ? { ...entry, content: change(entry.content) } : entry))
}
