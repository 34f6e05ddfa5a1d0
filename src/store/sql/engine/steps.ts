import type { Kysely, Transaction } from 'kysely'
import type { AuditEvent } from '../../../model/audit-event.js'
import type { Change } from '../../../model/change.js'
import { appendEvents } from '../../audit/append.js'
import type { AuditSeal } from '../../audit/chain.js'
import { Refused, unavailable } from '../../refused.js'
import { createOrdinal } from '../../rows.js'
import type { Unit as RowUnit, Steps as SharedSteps } from '../../unit.js'
import type { AdminEmails } from '../../users.js'
import { insertChanges, type PendingChange } from './change-inserts.js'
import type { Flavour } from './flavour.js'
import { createProgress, type Progress, watched } from './progress.js'
import { retrying, stepPatienceMs, type Waiting } from './retry.js'
import { createRowStatements } from './row-statements.js'
import { createRows, createView } from './rows.js'
import type { Tables } from './schema.js'
import { isCut } from './server-faults.js'

export interface StepOptions extends Waiting {
  db: Kysely<Tables>
  flavour: Flavour
  /** Wall clock, Unix milliseconds. */
  now(): number
  randomId(): string
  /** Marks the audit log with a key outside the store. */
  seal: AuditSeal
  /** Called for each change row, right after its transaction committed. */
  onChange(change: Change): void
  /** Called once after a transaction that wrote to the outbox committed. */
  onMail(): void
  /** The isolation level that each transaction must ask for. */
  isolation: 'read committed' | null
  /** Whether connections may break and the driver reports it. */
  breakable: boolean
  /** Whether calls of one turn of the event loop may share a statement. */
  gathers: boolean
  /** Called for each audit event, right after its transaction committed. */
  onAudit?(event: AuditEvent): void
  isLastAdmin: LastAdminCheck
}

/**
 * Whether that account is the only one left that may administer. First locks what the answer depends on, so that concurrent
 * steps decide one after the other.
 *
 * @param emails the setting `admin.emails`, canonical
 * @param now Unix seconds
 */
export type LastAdminCheck = (unit: Unit, id: string, emails: AdminEmails, now: number) => Promise<boolean>

/** The tools that every noun of the store uses, and those of the nouns that have SQL of their own. */
export interface Steps extends SharedSteps {
  flavour: Flavour
  /** Whether calls of one turn of the event loop may share a statement. */
  gathers: boolean
  randomId(): string
  seal: AuditSeal
  /** Rises with every call, even if the clock stops or goes back: microseconds of the wall clock, or a higher number. */
  ordinal(): number
  /**
   * One step without a transaction: a read, or a single statement. If its connection breaks, a read is repeated. A write is
   * not, because it may have happened already, unless it is `repeatable`: then it may happen twice.
   */
  step<T>(run: (db: Kysely<Tables>) => Promise<T>, repeatable?: 'repeatable'): Promise<T>
  /**
   * One step in one transaction. It must begin with a write, the deciding one if possible: SQLite gives the write lock to
   * such a transaction, but refuses it to one that has read an older state (SQLITE_BUSY_SNAPSHOT).
   * If its connection breaks before the commit was sent, nothing has happened, and the step is repeated. After that, the
   * outcome is unknown, and the step fails with `store_unavailable`.
   * With `refused`, a `Refused` thrown inside undoes everything, and the step returns that value.
   */
  transaction<T>(run: (unit: Unit) => Promise<T>, refused?: T): Promise<T>
  /** Refuses new steps and waits for those under way. */
  drain(): Promise<void>
}

/** A transaction under way, and the notifications to send after its commit. */
export interface Unit extends RowUnit, Pick<Steps, 'flavour' | 'seal'> {
  db: Transaction<Tables>
  audited: AuditEvent[]
  /** Change rows to write as the last write of the transaction. */
  pending: PendingChange[]
}

/**
 * Every verb of the store goes through here. It retries while the database is busy. Any other error of the driver becomes
 * `store_unavailable` with the cause, so that neither SQL nor values reach a message.
 */
export function createSteps(options: StepOptions): Steps {
  const { db, flavour, gathers, randomId, seal, isolation, isLastAdmin } = options
  const waiting: Waiting = { sleep: options.sleep, random: options.random }
  const tools = { flavour, randomId, seal, ordinal: createOrdinal(options.now) }
  const underWay = new Set<Promise<unknown>>()
  let draining = false

  function step<T>(attempt: (progress: Progress) => Promise<T>): Promise<T> {
    if (draining) return Promise.reject(unavailable(new Error('The store is closed.')))
    let progress = createProgress()
    const mayTryAgain = (error: unknown) => isCut(error) && progress.undone(error)
    const running = retrying({ ...waiting, mayTryAgain }, stepPatienceMs, () => {
      progress = createProgress()
      return attempt(progress)
    }).catch((error: unknown) => {
      throw error instanceof Refused ? error : unavailable(error)
    })
    underWay.add(running)
    const forget = () => void underWay.delete(running)
    running.then(forget, forget)
    return running
  }

  const alone: Steps['step'] = (run, repeatable) =>
    step((progress) => run(options.breakable && !repeatable ? watched(db, progress) : db))

  async function commit<T>(run: (unit: Unit) => Promise<T>): Promise<T> {
    const { unit, changes, answer } = await step((progress) => {
      const begun = isolation ? db.transaction().setIsolationLevel(isolation) : db.transaction()
      return begun.execute(async (transaction) => {
        const done = await runIn(unitIn(transaction, { ...tools, isLastAdmin }), run)
        progress.send('write')
        return done
      })
    })
    for (const change of changes) options.onChange(change)
    for (const event of unit.audited) options.onAudit?.(event)
    if (unit.mailed) options.onMail()
    return answer
  }

  return {
    ...tools,
    gathers,
    step: alone,
    ...rowSteps(flavour, alone),
    async transaction(run, refused) {
      try {
        return await commit(run)
      } catch (error) {
        if (error instanceof Refused && refused !== undefined) return refused
        throw error
      }
    },
    async drain() {
      draining = true
      await Promise.allSettled(underWay)
    },
  }
}

/** Runs a step in its transaction, with the writes that end it. */
async function runIn<T>(unit: Unit, run: (unit: Unit) => Promise<T>) {
  const answer = await run(unit)
  if (unit.audited.length > 0) await appendEvents(unit, unit.audited, unit.seal)
  return { unit, answer, changes: await insertChanges(unit, unit.pending) }
}

/** Steps on rows that need no transaction. */
function rowSteps(flavour: Flavour, step: Steps['step']): Pick<Steps, 'glance' | 'read' | 'write' | 'removeDue'> {
  const glance: Steps['glance'] = (run) => step((db) => run(createView(flavour, db)))
  return {
    glance,
    read: glance,
    write: (table, { query, ...changes }) =>
      step(async (db) => (await createRowStatements(flavour, db).change(table, query, changes)) > 0),
    // Two small statements, because MySQL cannot delete by a limited subquery. In between, another process can only remove rows.
    async removeDue(table, query, page) {
      const columns = table.key
      const due = await step((db) => createRowStatements(flavour, db).select(table, query, { ...page, columns }))
      if (due.length === 0) return 0
      return step((db) => createRowStatements(flavour, db).remove(table, due), 'repeatable')
    },
  }
}

type Tools = Pick<Unit, 'flavour' | 'randomId' | 'seal' | 'ordinal'> & Pick<StepOptions, 'isLastAdmin'>

function unitIn(db: Unit['db'], { isLastAdmin, ...tools }: Tools): Unit {
  const unit: Unit = {
    ...tools,
    ...createRows(tools.flavour, db),
    db,
    audited: [],
    pending: [],
    mailed: false,
    unrecorded: [],
    alone: (name) => tools.flavour.serialise(db, name),
    isLastAdmin: (id, emails, now) => isLastAdmin(unit, id, emails, now),
    audit: (event) => void unit.audited.push(event),
    change(kind, subjects, until, version) {
      for (const subject of subjects) unit.pending.push({ kind, subject, until, version: version ?? null })
    },
  }
  return unit
}
