import type { Steps } from '../../../store/sql/engine/steps.js'
import type { BackupRecord, Backups, RemovedTokens } from '../backups.js'
import { actorIn, actorText, type BackupsTable, reading, writing } from './space-tables.js'

const keptBackups = 10
/** Parameters of one statement. */
const mostIds = 500

export function createBackups(steps: Steps): Backups {
  return {
    add: (backup) =>
      steps.transaction(async ({ db }) => {
        const rows = writing(db)
        await rows.insertInto('latchkey_backups').values(toRow(backup)).execute()
        const listed = await rows
          .selectFrom('latchkey_backups')
          .select('id')
          .where('space_id', '=', backup.spaceId)
          .orderBy('at', 'desc')
          .orderBy('id')
          .execute()
        const surplus = listed.slice(keptBackups).map(({ id }) => id)
        if (surplus.length > 0) await rows.deleteFrom('latchkey_backups').where('id', 'in', surplus).execute()
      }),

    list: (spaceId) =>
      steps.step(async (db) => {
        const rows = reading(db).selectFrom('latchkey_backups').selectAll().where('space_id', '=', spaceId)
        return (await rows.orderBy('at', 'desc').orderBy('id').execute()).map(toBackup)
      }),
  }
}

export function createRemovedTokens(steps: Steps): RemovedTokens {
  return {
    add: (spaceId, id) =>
      steps.step(async (db) => {
        await reading(db)
          .insertInto('latchkey_removed_tokens')
          .values({ space_id: spaceId, id })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }, 'repeatable'),

    async among(spaceId, ids) {
      const removed: string[] = []
      for (let at = 0; at < ids.length; at += mostIds) {
        const part = ids.slice(at, at + mostIds)
        const rows = await steps.step((db) =>
          reading(db)
            .selectFrom('latchkey_removed_tokens')
            .select('id')
            .where('space_id', '=', spaceId)
            .where('id', 'in', part)
            .execute(),
        )
        removed.push(...rows.map(({ id }) => id))
      }
      return removed
    },
  }
}

function toRow({ id, spaceId, at, bytes, sha256, madeBy }: BackupRecord): BackupsTable {
  return { id, space_id: spaceId, at, bytes, sha256, made_by: actorText(madeBy) }
}

function toBackup(row: BackupsTable): BackupRecord {
  const { id, sha256 } = row
  return {
    id,
    sha256,
    spaceId: row.space_id,
    at: Number(row.at),
    bytes: Number(row.bytes),
    madeBy: actorIn(row.made_by),
  }
}
