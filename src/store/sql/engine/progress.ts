import type { Kysely, KyselyPlugin } from 'kysely'
import type { Tables } from './schema.js'
import { Unreachable } from './server-faults.js'

/** The progress of an attempt at a step. It decides whether the step may be repeated after its connection broke. */
export interface Progress {
  /** Called just before a statement is sent. In a transaction, only the commit counts as a write. */
  send(kind: 'read' | 'write'): void
  /** Whether certainly nothing was written, given the error of the last statement. */
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

/** The database for a step without a transaction. Each statement is recorded before it is sent. */
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
