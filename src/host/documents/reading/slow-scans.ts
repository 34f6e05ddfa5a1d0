import { plan } from '../plan.js'

/** A find that has read all documents. */
export interface WholeScan {
  collection: string
  criteria: Readonly<Record<string, unknown>>
  rows: number
  matches: number
}

/** Reports scans that an index would spare, once a collection and field. */
export interface SlowScans {
  note(scan: WholeScan): void
}

const fewestRows = 10_000
const maxReports = 100

/** @param report gets a line for the log of the space */
export function createSlowScans(report: (line: string) => void): SlowScans {
  const reported = new Set<string>()
  return {
    note({ collection, criteria, rows, matches }) {
      if (rows <= fewestRows || matches * 100 >= rows || reported.size >= maxReports) return
      const field = helpfulField(criteria)
      const name = `${collection} ${field}`
      if (field === null || reported.has(name)) return
      reported.add(name)
      report(
        `A find in ${collection} read ${rows} documents for ${matches}. An index helps: latchkey createindex ${name}`,
      )
    },
  }
}

/** The field whose index would leave the least. */
function helpfulField(criteria: WholeScan['criteria']): string | null {
  const indexes = fieldsOf(criteria).map((field) => ({ field, isMultikey: false, isOrdered: false }))
  return plan(indexes, { criteria, sort: null, useIndex: null })?.field ?? null
}

function fieldsOf(criteria: unknown): string[] {
  if (Array.isArray(criteria)) return criteria.flatMap(fieldsOf)
  if (typeof criteria !== 'object' || criteria === null) return []
  return Object.entries(criteria).flatMap(([name, value]) => {
    if (name === '$and') return fieldsOf(value)
    return /^[\w.-]+$/.test(name) && name !== '_id' ? [name] : []
  })
}
