import type { Kysely, KyselyPlugin } from 'kysely'
import type { Tables } from './schema.js'
import { Unreachable } from './server-faults.js'

/** How far an attempt at a step has come: what decides whether it may be done again after its connection broke. */
export interface Progress {
  /** Just before a statement goes to the server; of a transaction only the commit counts as one that writes. */
  send(kind: 'read' | 'write'): void
  /** Whether nothing can have been written, now that the last statement failed by that error. */
  undone(error: unknown): boolean
}

export function createProgress(): Progress {
  let wrote = false
  let last: 'read' | 'write' = 'read'
  return {
    send(kind) {
      wrote ||= last === 'write'
      last = kind
    },
    undone: (error) => !wrote && (last === 'read' || error instanceof Unreachable),
  }
}

/** The database as a step without a transaction sees it: each statement is noted before it goes out. */
export function watched(db: Kysely<Tables>, progress: Progress): Kysely<Tables> {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      progress.send(node.kind === 'SelectQueryNode' ? 'read' : 'write')
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return db.withPlugin(plugin)
}
