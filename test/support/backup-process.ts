import { join } from 'node:path'
import type { RestoreProgress } from '../../src/host/flows/backups/draft.js'
import type { RestoreRules } from '../../src/host/flows/backups/fill-draft.js'
import type { BackupPorts } from '../../src/host/flows/backups/ports.js'
import { restore } from '../../src/host/flows/backups/restore.js'
import { parseMasterKeys } from '../../src/host/sealing/master-keys.js'
import { openSpacesData } from '../../src/host/spaces/generations.js'
import { openOwnSchemas, rememberedTokens, withSchemas } from '../../src/host/spaces/ground.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { createTestClock } from '../../src/testing/clock.js'
import { testSettings } from '../../src/testing/settings.js'
import { policyOf } from '../../src/wiring/policy.js'
import { readSettings } from '../../src/wiring/settings.js'
import { admin, type HostFolder, inPieces, openOutsideTests } from './space-world.js'

const policy = policyOf(readSettings(testSettings(), { testing: true }))
const keyring = createKeyring(['a secret of the accounts, long enough'])

export const space = 'dev'
export const dataLimits = { spaceBytes: 64 * 1024 ** 2, documentBytes: 4 * 1024 ** 2, depth: 32, indexes: 64 }

/**
 * A process of a host, without HTTP and children, whose data is on the disk or on a server. Its caller closes it.
 *
 * @param thread the program of a data thread
 */
export async function openBackupProcess(host: HostFolder, thread: URL, limits = dataLimits) {
  const process = await openOutsideTests(host)
  const schemas = await openOwnSchemas({ database: host.database ?? null })
  const { ports: own, store, nouns } = process
  const logger = { warn: () => {}, error: () => {} }
  const folder = { spaces: join(host.path, 'spaces') }
  const disk = { mayWrite: () => true }
  const data = openSpacesData({
    folder,
    disk,
    schemas,
    limits,
    logger,
    world: createTestClock(),
    program: thread,
  })
  const ports: BackupPorts & Pick<typeof own, 'children' | 'directory'> = {
    ...own,
    files: withSchemas(own.files, schemas),
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
  let closed: Promise<void> | null = null
  const close = async () => {
    await data.close()
    await schemas?.close()
    await store.close()
  }
  return {
    ...{ ...process, ports, host, folder, logger },
    close() {
      closed ??= close()
      return closed
    },
  }
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
    still: async () => {},
  })
  return { ...(await run((step) => steps.push(step))), steps }
}
