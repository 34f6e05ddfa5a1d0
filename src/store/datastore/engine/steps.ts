import { sha256 } from '../../../lib/digest.js'
import type { AuditEvent } from '../../../model/audit-event.js'
import type { Change } from '../../../model/change.js'
import { appendEvents } from '../../audit/append.js'
import type { AuditSeal } from '../../audit/chain.js'
import { Refused, unavailable } from '../../refused.js'
import { createOrdinal } from '../../rows.js'
import type { Table } from '../../tables.js'
import type { Page, Query, Steps as SharedSteps, View, Write } from '../../unit.js'
import type { Connection } from './connection.js'
import type { LockOptions } from './lock.js'
import { createQueue, type Queue } from './queue.js'
import { createUnit, createView, type Unit } from './unit.js'

export interface StepOptions extends LockOptions {
  connection: Connection
  /** Wall clock, Unix milliseconds. */
  now(): number
  randomId(): string
  seal: AuditSeal
  onChange(change: Change): void
  onMail(): void
  onAudit?(event: AuditEvent): void
}

/** What every noun works with, and the nouns that have their own text for a Datastore. */
export interface Steps extends SharedSteps {
  seal: AuditSeal
  /** This process's clock, Unix milliseconds: a Datastore has none. */
  nowMs(): number
  /** Reads that see each step whole or not at all. May be run again. */
  read<T>(run: (view: View) => Promise<T>): Promise<T>
  /** One step, alone of all processes, which may be run again. */
  transaction<T>(run: (unit: Unit) => Promise<T>, refused?: T): Promise<T>
  /** A step in one of several queues, chosen by the name: for rows that no other step touches. */
  apart<T>(name: string, run: (unit: Unit) => Promise<T>): Promise<T>
  /** Refuses new steps and waits for those under way. */
  drain(): Promise<void>
}

/** How many queues there are besides the one for accounts. */
const queuesApart = 8

/**
 * Every verb of the store goes through here. What the platform throws becomes `store_unavailable` with the cause, so that
 * no value reaches a message.
 */
export function createSteps(options: StepOptions): Steps {
  const { connection, seal, randomId } = options
  const accounts = createQueue('accounts', options)
  const apart = Array.from({ length: queuesApart }, (_, index) => createQueue(`apart${index}`, options))
  const ordinal = createOrdinal(options.now)
  const underWay = new Set<Promise<unknown>>()
  let draining = false

  function guarded<T>(attempt: () => Promise<T>): Promise<T> {
    if (draining) return Promise.reject(unavailable(new Error('The store is closed.')))
    const running = attempt().catch((error: unknown) => {
      throw error instanceof Refused ? error : unavailable(error)
    })
    underWay.add(running)
    const forget = () => void underWay.delete(running)
    running.then(forget, forget)
    return running
  }

  async function commit<T>(queue: Queue, run: (unit: Unit) => Promise<T>): Promise<T> {
    const { unit, answer } = await guarded(() =>
      queue.step(async (clockMs) => {
        const changeMs = () => Math.max(options.now(), clockMs + 1)
        const { unit, writes } = createUnit(connection, { randomId, ordinal, changeMs })
        const answer = await run(unit)
        if (unit.audited.length > 0) await appendEvents(unit, unit.audited, seal)
        const newest = unit.changes.reduce((latest, { atMs }) => Math.max(latest, atMs), 0)
        return { answer: { unit, answer }, writes: await writes(), clockMs: newest }
      }),
    )
    for (const change of unit.changes) options.onChange(change)
    for (const event of unit.audited) options.onAudit?.(event)
    if (unit.mailed) options.onMail()
    return answer
  }

  const glance: Steps['glance'] = (run) => guarded(() => run(createView(connection)))

  const transaction: Steps['transaction'] = (run, refused) => answerRefusal(commit(accounts, run), refused)

  return {
    seal,
    nowMs: options.now,
    read: (run) => guarded(() => accounts.read(() => run(createView(connection)))),
    glance,
    transaction,
    write: (table, write) => transaction((unit) => changeRows(unit, table, write)),
    removeDue: (table, query, page) => removeDue({ glance, transaction }, table, query, page),
    apart: (name, run) => commit(apart[queueOf(name)] ?? accounts, run),
    async drain() {
      draining = true
      await Promise.allSettled(underWay)
      await Promise.all([accounts, ...apart].map((queue) => queue.idle()))
    },
  }
}

/** Which of the queues apart is that name's, in every process. */
export function queueOf(name: string): number {
  return Number.parseInt(Buffer.from(sha256(name), 'base64url').toString('hex').slice(0, 4), 16) % queuesApart
}

async function answerRefusal<T>(step: Promise<T>, refused?: T): Promise<T> {
  try {
    return await step
  } catch (error) {
    if (error instanceof Refused && refused !== undefined) return refused
    throw error
  }
}

async function changeRows<R extends object, K extends keyof R>(
  unit: Unit,
  table: Table<R, K>,
  { query, set = {}, raise = [] }: Write<R>,
): Promise<boolean> {
  const rows = await unit.find(table, query)
  for (const row of rows) {
    const raised = Object.entries(row).flatMap(([column, value]): [string, number][] =>
      raise.some((each) => each === column) ? [[column, Number(value) + 1]] : [],
    )
    unit.put(table, { ...row, ...set, ...Object.fromEntries(raised) })
  }
  return rows.length > 0
}

/** All writes of a step are kept in one text, which must not grow without bound. */
const removedAtOnce = 100

/** A due row stays due, so the only change in between can be its removal by another process. */
async function removeDue<R extends object, K extends keyof R>(
  steps: Pick<Steps, 'glance' | 'transaction'>,
  table: Table<R, K>,
  query: Query,
  page: Page,
): Promise<number> {
  const due = await steps.glance((view) => view.find(table, query, page))
  let removed = 0
  for (let start = 0; start < due.length; start += removedAtOnce) {
    const part = due.slice(start, start + removedAtOnce)
    removed += await steps.transaction(async (unit) => {
      const there = (await Promise.all(part.map((row) => unit.get(table, row)))).filter((row) => row !== null)
      unit.remove(table, there)
      return there.length
    })
  }
  return removed
}
