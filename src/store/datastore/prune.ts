import type { Steps } from './engine/steps.js'
import type { Table } from './engine/tables.js'
import type { View } from './engine/unit.js'

/** All writes of a step are kept in one text, which must not grow without bound. */
const atOnce = 100

/**
 * Removes the rows that `find` finds; returns how many. A due row stays due, so the only change in between can be its removal
 * by another process.
 */
export async function removeDue<R extends object>(
  steps: Steps,
  table: Table<R>,
  find: (view: View) => Promise<R[]>,
): Promise<number> {
  const due = await steps.glance(find)
  let removed = 0
  for (let start = 0; start < due.length; start += atOnce) {
    const keys = due.slice(start, start + atOnce).map((row) => table.keyOf(row))
    removed += await steps.step(async (unit) => {
      const there = (await Promise.all(keys.map((key) => unit.get(table, key)))).filter((row) => row !== null)
      unit.remove(table, there)
      return there.length
    })
  }
  return removed
}
