import { setImmediate } from 'node:timers/promises'
import type { AuditVerdict } from './audit.js'
import type { AuditSeal, ChainPlace } from './audit-chain.js'
import type { ChainEnds } from './audit-ends.js'
import { checkMark, follows, placeOf } from './audit-rows.js'
import type { AuditTable } from './rows.js'

/** The log as it was at one moment. */
export interface Snapshot extends ChainEnds {
  /** The highest number there is, whether or not the head knows of it. */
  newest: number
}

/** How a store reads its log for `verifyAudit`. */
export interface AuditReader {
  seal: AuditSeal
  /** Its parts are of one moment; null when somebody has taken the head away. */
  snapshot(): Promise<Snapshot | null>
  /**
   * The next events by number, up to `newest`, at most so many. Without `after` from the very first: what stands before
   * the floor is nothing that retention left there.
   */
  page(after: number | null, newest: number, count: number): Promise<AuditTable[]>
}

const pageSize = 500

/** Retention that goes on meanwhile takes events away from under the reading: then it begins again above the new floor. */
export async function verifyAudit(reader: AuditReader): Promise<AuditVerdict> {
  let snapshot = await reader.snapshot()
  while (snapshot) {
    const verdict = await walk(reader, snapshot)
    const floor = snapshot.floor.seq
    if (verdict.ok) return verdict
    snapshot = await reader.snapshot()
    if (snapshot?.floor.seq === floor) return verdict
  }
  return { ok: false, brokenAt: null }
}

async function walk(reader: AuditReader, { head, floor, newest }: Snapshot): Promise<AuditVerdict> {
  let place: ChainPlace = floor
  let last: AuditTable | null = null
  for await (const row of rowsUpTo(reader, newest)) {
    const fits = (last !== null || floor.sound) && follows(row, place) && place.seq < head.seq
    if (!fits || checkMark(row, reader.seal) === 'bad') return { ok: false, brokenAt: row.id }
    last = row
    place = placeOf(row)
  }
  const ok = floor.sound && head.sound && place.seq === head.seq && place.hash === head.hash
  return { ok, brokenAt: ok ? null : (last?.id ?? null) }
}

async function* rowsUpTo(reader: AuditReader, newest: number): AsyncGenerator<AuditTable> {
  for (let after: number | null = null; ; ) {
    const page: AuditTable[] = await reader.page(after, newest, pageSize)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = Number(last.seq)
    // SQLite answers within this turn of the event loop: everybody else has one now.
    await setImmediate()
  }
}
