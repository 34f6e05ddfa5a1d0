import type { Table } from '../../tables.js'
import type { Steps } from './steps.js'

/**
 * How many rows one step changes. Its writes stand in one text, which must not grow without bound; and they fit into a
 * turn also where the platform makes them one after another.
 */
const changedAtOnce = 50

export interface ManyChanges<R extends object, Item> {
  items: readonly Item[]
  keyOf(item: Item): string
  /** The row as it is to be; null: it stays as it is. */
  change(row: R, item: Item): R | null
}

/**
 * Changes rows that are decided each for itself, some in one step; what is gone is passed over. The rows of a step are
 * read by one call: one after another, they would take longer than a turn lasts, and a step that is too late is thrown away.
 */
export async function changeMany<R extends object, K extends keyof R, Item>(
  steps: Steps,
  table: Table<R, K>,
  { items, keyOf, change }: ManyChanges<R, Item>,
): Promise<void> {
  for (let start = 0; start < items.length; start += changedAtOnce) {
    const share = items.slice(start, start + changedAtOnce)
    await steps.transaction(async (unit) => {
      const found = await unit.find(table, { key: { in: share.map(keyOf) } })
      const rows = new Map(found.map((row) => [table.keyOf(row), row]))
      for (const item of share) {
        const row = rows.get(keyOf(item))
        const changed = row ? change(row, item) : null
        if (!changed) continue
        unit.put(table, changed)
        // Who is named twice is changed twice.
        rows.set(keyOf(item), changed)
      }
    })
  }
}
