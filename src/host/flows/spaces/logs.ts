import { requireTime } from '../../../flows/steps/paging.js'
import type { PrintedLine } from '../../ports.js'
import { findSpace } from './find-space.js'
import type { SpacePorts } from './ports.js'

export interface LogQuery {
  /** The name of the space. */
  space: string
  /** A date or time, ISO 8601. */
  since?: string
  level?: PrintedLine['level']
}

export interface ReadLog {
  /** Oldest first. */
  last: readonly PrintedLine[]
  /** Calls back with each new line that fits the query. The result ends it. */
  follow(callback: (line: PrintedLine) => void): () => void
}

/** Lines that one answer has at most, before those that follow. */
const mostLines = 500

/**
 * The last lines that the application printed.
 *
 * @throws {AuthError} `space_not_found`, `invalid_request`
 */
export async function readLog(
  { spaces, children }: Pick<SpacePorts, 'spaces' | 'children'>,
  { space, since, level }: LogQuery,
): Promise<ReadLog> {
  const filter = {
    ...(since !== undefined && { since: requireTime(since, 'since') }),
    ...(level !== undefined && { level }),
  }
  const { id } = await findSpace({ spaces }, space)
  const lines = children.logs(id)
  return {
    last: lines.last(mostLines, filter),
    follow: (callback) =>
      lines.follow((line) => {
        if (level === undefined || line.level === level) callback(line)
      }),
  }
}
