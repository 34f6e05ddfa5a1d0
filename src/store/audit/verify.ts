import { setImmediate } from 'node:timers/promises'
import type { AuditVerdict } from '../../model/audit-event.js'
import type { AuditTable } from '../rows.js'
import type { AuditSeal, ChainPlace } from './chain.js'
import type { ChainEnds } from './ends.js'
import { checkMark, follows, placeOf } from './rows.js'

/** The log as it was at one moment. */
export interface Snapshot extends ChainEnds {
  /** The highest stored number, even if the head does not know it. */
  newest: number
}

/** How a store reads its log for `verifyAudit`. */
export interface AuditReader {
  seal: AuditSeal
  /** All its parts are of one moment; null when the head was deleted. */
  snapshot(): Promise<Snapshot | null>
  /**
   * The next events by number, up to `newest`, at most `count`. Without `after` it begins at the very first: rows before the
   * floor were not left there by retention.
   */
  page(after: number | null, newest: number, count: number): Promise<AuditTable[]>
}

const pageSize = 500

/** Retention may remove events during the check. Then the check begins again above the new floor. */
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
    // SQLite answers within this turn of the event loop, so give way to other work here.
    await setImmediate()
  }
}
