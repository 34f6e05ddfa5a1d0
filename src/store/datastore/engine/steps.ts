import { sha256 } from '../../../lib/digest.js'
import type { AuditEvent } from '../../../model/audit-event.js'
import type { Change } from '../../../model/change.js'
import type { AuditSeal } from '../../audit/chain.js'
import { Refused, unavailable } from '../../refused.js'
import { createOrdinal } from '../../rows.js'
import type { Connection } from './connection.js'
import type { LockOptions } from './lock.js'
import { createQueue, type Queue } from './queue.js'
import { createUnit, createView, type Unit, type View } from './unit.js'

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

/** What every noun of the store works with. */
export interface Steps {
  seal: AuditSeal
  /** This process's clock, Unix milliseconds: a Datastore has none. */
  nowMs(): number
  /** Reads that see each step whole or not at all. May be run again. */
  read<T>(run: (view: View) => Promise<T>): Promise<T>
  /** One query, which needs no more than the documents it finds: what it is about is decided later, in a step. */
  glance<T>(run: (view: View) => Promise<T>): Promise<T>
  /** One step, alone of all processes. A `Refused` thrown inside answers `refused`, and nothing has changed. May be run again. */
  step<T>(run: (unit: Unit) => Promise<T>, refused?: T): Promise<T>
  /** The same in one of several queues, chosen by the name: for rows that no other step touches. */
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
        const { unit, writes } = createUnit(connection, { seal, randomId, ordinal, changeMs })
        const answer = await run(unit)
        const newest = unit.changes.reduce((latest, { atMs }) => Math.max(latest, atMs), 0)
        return { answer: { unit, answer }, writes: await writes(), clockMs: newest }
      }),
    )
    for (const change of unit.changes) options.onChange(change)
    for (const event of unit.audited) options.onAudit?.(event)
    if (unit.mailed) options.onMail()
    return answer
  }

  return {
    seal,
    nowMs: options.now,
    read: (run) => guarded(() => accounts.read(() => run(createView(connection)))),
    glance: (run) => guarded(() => run(createView(connection))),
    async step(run, refused) {
      try {
        return await commit(accounts, run)
      } catch (error) {
        if (error instanceof Refused && refused !== undefined) return refused
        throw error
      }
    },
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
