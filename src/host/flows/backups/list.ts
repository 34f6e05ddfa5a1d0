import type { ActorEntry } from '../../../contract/actor.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Visitor } from '../../../model/visitor.js'
import type { BackupRecord } from '../../store/backups.js'
import { toActorEntry } from '../spaces/actor-entry.js'
import { findJudged } from '../spaces/find-space.js'
import type { BackupPorts } from './ports.js'

/** A backup that was sent whole, as administrators see it. */
export interface BackupEntry extends Pick<BackupRecord, 'bytes' | 'sha256'> {
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
