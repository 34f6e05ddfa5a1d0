import { toNumber } from '../../../store/sql/engine/schema.js'
import type { Steps, Unit } from '../../../store/sql/engine/steps.js'
import type { Claim, ReleaseRecord, Releases } from '../spaces.js'
import { holdsClaim, updateClaimed } from './claims.js'
import { actorIn, actorText, type ReleasesTable, reading, writing } from './space-tables.js'

export function createReleases(steps: Steps): Releases {
  return { ...readReleases(steps), ...addReleases(steps), ...switchReleases(steps) }
}

function readReleases(steps: Steps): Pick<Releases, 'list' | 'find'> {
  return {
    list: (spaceId) =>
      steps.step(async (db) => {
        const rows = reading(db).selectFrom('latchkey_releases').selectAll().where('space_id', '=', spaceId)
        return (await rows.orderBy('number', 'desc').execute()).map(toRelease)
      }),

    find: (spaceId, number) =>
      steps.step(async (db) => {
        const row = await reading(db)
          .selectFrom('latchkey_releases')
          .selectAll()
          .where('space_id', '=', spaceId)
          .where('number', '=', number)
          .executeTakeFirst()
        return row ? toRelease(row) : null
      }),
  }
}

function addReleases(steps: Steps): Pick<Releases, 'reserve' | 'add' | 'remove'> {
  return {
    reserve: (claim) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return null
        const { last_release } = await writing(unit.db)
          .selectFrom('latchkey_spaces')
          .select('last_release')
          .where('id', '=', claim.spaceId)
          .executeTakeFirstOrThrow()
        const number = Number(last_release) + 1
        await updateClaimed(unit, claim, { last_release: number })
        return number
      }),

    add: (claim, release) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        await writing(unit.db).insertInto('latchkey_releases').values(toRow(release, claim.spaceId)).execute()
        return true
      }),

    remove: (claim, numbers) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        const db = writing(unit.db)
        if (numbers.length === 0) return true
        await db
          .deleteFrom('latchkey_releases')
          .where('space_id', '=', claim.spaceId)
          .where('number', 'in', numbers)
          .where('number', 'not in', (eb) =>
            eb
              .selectFrom('latchkey_spaces')
              .select((each) => each.fn.coalesce('current_release', each.lit(0)).as('number'))
              .where('id', '=', claim.spaceId),
          )
          .execute()
        return true
      }),
  }
}

function switchReleases(steps: Steps): Pick<Releases, 'putInForce' | 'fail' | 'undeploy'> {
  return {
    putInForce: (claim, number, audit) =>
      steps.transaction(async (unit) => {
        if (!(await updateClaimed(unit, claim, { current_release: number }))) return false
        await writeOutcome(unit, claim, { number, outcome: 'healthy', fault: null })
        unit.audit(audit)
        return true
      }),

    fail: (claim, { number, fault }, audit) =>
      steps.transaction(async (unit) => {
        if (!(await holdsClaim(unit, claim))) return false
        await writeOutcome(unit, claim, { number, outcome: 'failed', fault })
        unit.audit(audit)
        return true
      }),

    undeploy: (claim, audit) =>
      steps.transaction(async (unit) => {
        if (!(await updateClaimed(unit, claim, { current_release: null }))) return false
        await writing(unit.db).deleteFrom('latchkey_releases').where('space_id', '=', claim.spaceId).execute()
        unit.audit(audit)
        return true
      }),
  }
}

async function writeOutcome(
  { db }: Unit,
  { spaceId }: Claim,
  { number, ...outcome }: Pick<ReleaseRecord, 'number' | 'outcome' | 'fault'>,
): Promise<void> {
  await writing(db)
    .updateTable('latchkey_releases')
    .set(outcome)
    .where('space_id', '=', spaceId)
    .where('number', '=', number)
    .execute()
}

function toRow({ git, dirty, author, createdAt, ...release }: ReleaseRecord, spaceId: string): ReleasesTable {
  return {
    ...release,
    space_id: spaceId,
    git_hash: git?.hash ?? null,
    git_branch: git?.branch ?? null,
    dirty: dirty === null ? null : dirty ? 1 : 0,
    author: actorText(author),
    created_at: createdAt,
  }
}

function toRelease(row: ReleasesTable): ReleaseRecord {
  return {
    number: Number(row.number),
    sha256: row.sha256,
    bytes: Number(row.bytes),
    git: row.git_hash === null ? null : { hash: row.git_hash, branch: row.git_branch },
    dirty: row.dirty === null ? null : toNumber(row.dirty) === 1,
    tool: row.tool,
    author: actorIn(row.author),
    createdAt: Number(row.created_at),
    outcome: row.outcome,
    fault: row.fault,
  }
}
