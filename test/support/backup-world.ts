import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { onTestFinished } from 'vitest'
import { signedText } from '../../src/host/archives/checksums.js'
import { backUp } from '../../src/host/flows/backups/backup.js'
import type { RestoreProgress } from '../../src/host/flows/backups/draft.js'
import type { RestoreRules } from '../../src/host/flows/backups/judge-backup.js'
import type { BackupPorts } from '../../src/host/flows/backups/ports.js'
import { restore } from '../../src/host/flows/backups/restore.js'
import { deploy } from '../../src/host/flows/spaces/deploy.js'
import { createSpace } from '../../src/host/flows/spaces/spaces.js'
import { type MasterKeys, parseMasterKeys } from '../../src/host/sealing/master-keys.js'
import { openSpacesData } from '../../src/host/spaces/generations.js'
import { rememberedTokens } from '../../src/host/spaces/remembered-tokens.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { createTestClock } from '../../src/testing/clock.js'
import { testSettings } from '../../src/testing/settings.js'
import { policyOf } from '../../src/wiring/policy.js'
import { readSettings } from '../../src/wiring/settings.js'
import { type ArchiveEntry, tarOf } from './release-archive.js'
import { admin, archiveWith, type HostFolder, hostFolder, inPieces, openProcess } from './space-world.js'
import { threadProgram } from './storage-threads.js'

const program = await threadProgram()
const policy = policyOf(readSettings(testSettings(), { testing: true }))
const keyring = createKeyring(['a secret of the accounts, long enough'])

export const space = 'dev'
export const dataLimits = { spaceBytes: 64 * 1024 ** 2, documentBytes: 4 * 1024 ** 2 }

/** A process of a host, without HTTP and children, whose data is on the disk. */
export async function openBackups(host: HostFolder, limits = dataLimits) {
  const process = await openProcess(host)
  const { ports: own, store, nouns } = process
  const logger = { warn: () => {}, error: () => {} }
  const folder = { spaces: join(host.path, 'spaces') }
  const disk = { mayWrite: () => true }
  const data = openSpacesData({ folder, disk, limits, logger, world: createTestClock(), program })
  onTestFinished(data.close)
  const ports: BackupPorts & Pick<typeof own, 'children' | 'directory'> = {
    ...own,
    data,
    keyring,
    audit: store.audit,
    dataLimits: limits,
    signer: parseMasterKeys(host.masterKey.text),
    accessOf({ id }) {
      const { apiTokens, accessSettings } = store.at(id)
      return { apiTokens: rememberedTokens(apiTokens, nouns.removedTokens, id), accessSettings, policy }
    },
  }
  return { ...process, ports, host, folder, logger }
}

/** The same with the space `dev`, which has the release 1. */
export async function backupWorld(limits = dataLimits) {
  const opened = await openBackups(await hostFolder(), limits)
  const { ports } = opened
  const { id } = await createSpace(ports, { name: space, visitor: admin })
  await deploy(ports, { space, archive: await archiveWith('first'), dirty: null, visitor: admin }, () => {})
  return { ...opened, id, data: await ports.data.open(id, 1) }
}

export async function backUpNow(ports: BackupPorts, name = space): Promise<Buffer> {
  const { archive } = await backUp(ports, { space: name, visitor: admin })
  return buffer(archive)
}

const nothingMore = { verifyOnly: false, release: false, settings: false, foreign: false, isSession: true }

/** A restore of `dev` by a signed-in administrator. */
export async function restoreNow(
  ports: BackupPorts,
  archive: Uint8Array | AsyncIterable<Uint8Array>,
  rules: Partial<RestoreRules> & { space?: string } = {},
) {
  const { space: name = space, ...more } = rules
  const steps: RestoreProgress[] = []
  const { run } = await restore(ports, {
    space: name,
    archive: archive instanceof Uint8Array ? inPieces(archive, 64 * 1024) : archive,
    rules: { ...nothingMore, confirm: name, ...more },
    visitor: admin,
  })
  return { ...(await run((step) => steps.push(step))), steps }
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
