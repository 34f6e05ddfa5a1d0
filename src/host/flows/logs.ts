import { requireTime } from '../../flows/steps/require-time.js'
import type { PrintedFilter, PrintedLine } from '../ports.js'
import { findSpace } from './find-space.js'
import type { SpacePorts } from './space-ports.js'

export interface LogQuery {
  /** The name of the space. */
  space: string
  /** New lines follow for as long as the reader stays. */
  follow: boolean
  /** A date or time, ISO 8601. */
  since?: string
  level?: PrintedLine['level']
}

/** Lines that one answer has at most before those that follow. */
const mostLines = 500
/** Lines that wait for a slow reader. Older ones are dropped. */
const mostWaiting = 1_000

/**
 * The last lines that the application printed, oldest first, and with `follow` each new one.
 *
 * @throws {AuthError} `space_not_found`, `invalid_request`
 */
export async function readLogs(
  { spaces, children }: Pick<SpacePorts, 'spaces' | 'children'>,
  { space, follow, since, level }: LogQuery,
): Promise<AsyncIterable<PrintedLine>> {
  const filter = {
    ...(since !== undefined && { since: requireTime(since, 'since') }),
    ...(level !== undefined && { level }),
  }
  const { id } = await findSpace({ spaces }, space)
  const lines = children.logs(id)
  const last = lines.last(mostLines, filter)
  return follow ? followed(last, filter, lines.follow) : all(last)
}

async function* all(lines: readonly PrintedLine[]): AsyncGenerator<PrintedLine> {
  yield* lines
}

/** Follows from the call on, so that no line is lost between the last ones and the new ones. */
function followed(
  last: readonly PrintedLine[],
  { level }: PrintedFilter,
  follow: (callback: (line: PrintedLine) => void) => () => void,
): AsyncIterable<PrintedLine> {
  const waiting = [...last]
  let wake = () => {}
  const stop = follow((line) => {
    if (level !== undefined && line.level !== level) return
    waiting.push(line)
    if (waiting.length > mostWaiting) waiting.shift()
    wake()
  })

  async function* lines(): AsyncGenerator<PrintedLine> {
    try {
      for (;;) {
        const line = waiting.shift()
        if (line) yield line
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      stop()
    }
  }
  return lines()
}
