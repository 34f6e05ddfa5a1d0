import type { HttpRequest } from '../../http/message.js'
import type { Visitor } from '../../model/visitor.js'
import { queryChoice, queryText } from '../../routes/admin/fields.js'
import { deploy } from '../flows/spaces/deploy.js'
import { type ReadLog, readLog } from '../flows/spaces/logs.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { activateRelease } from '../flows/spaces/releases.js'
import type { Switched } from '../flows/spaces/switch-release.js'
import type { PrintedLine } from '../ports.js'
import { progressRows, type Reported } from './progress.js'
import { createRowQueue, type Row } from './row-queue.js'

/** Lines of a log that wait for a slow reader. */
const mostWaitingRows = 1_000

/** A request to a route whose answer is NDJSON, after the caller was judged. */
export interface StreamRequest {
  params: Readonly<Record<string, string>>
  request: Pick<HttpRequest, 'query' | 'headers'>
  visitor: Visitor
  /** For a fault on the way. */
  context: Reported
}

/** POST `/spaces/:space/releases`. */
export function deployRows(
  ports: SpacePorts,
  { params, request, visitor, context }: StreamRequest,
  archive: AsyncIterable<Uint8Array>,
): AsyncIterable<Row> {
  const dirty = request.headers['x-latchkey-git-dirty']
  const deployment = {
    space: params.space ?? '',
    archive,
    dirty: dirty === 'true' ? true : dirty === 'false' ? false : null,
    visitor,
  }
  return progressRows(context, async (report) => done(await deploy(ports, deployment, (step) => report({ ...step }))))
}

/** POST `/spaces/:space/releases/:n/activate`. */
export function activateRows(ports: SpacePorts, { params, visitor, context }: StreamRequest): AsyncIterable<Row> {
  const wanted = { space: params.space ?? '', number: releaseNumber(params.n), visitor }
  return progressRows(context, async (report) =>
    done(await activateRelease(ports, wanted, (step) => report({ ...step }))),
  )
}

/** The same for a form, which is answered when all steps are done. @throws {AuthError} as `activateRelease` */
export async function activateAtOnce(ports: SpacePorts, { params, visitor }: StreamRequest): Promise<void> {
  const wanted = { space: params.space ?? '', number: releaseNumber(params.n), visitor }
  await activateRelease(ports, wanted, () => {})
}

/**
 * GET `/spaces/:space/logs`.
 *
 * @throws {AuthError} `space_not_found`, `invalid_request`
 */
export async function logRows(
  ports: SpacePorts,
  { params, request }: Pick<StreamRequest, 'params' | 'request'>,
): Promise<AsyncIterable<Row>> {
  const since = queryText(request, 'since')
  const level = queryChoice(request, 'level', ['info', 'error'])
  const log = await readLog(ports, {
    space: params.space ?? '',
    ...(since !== undefined && { since }),
    ...(level !== undefined && { level }),
  })
  return queryText(request, 'follow') === 'true' ? followedRows(log) : lastRows(log)
}

async function* lastRows({ last }: ReadLog): AsyncGenerator<Row> {
  yield* last.map(toRow)
  yield { end: { count: last.length } }
}

/** Has no end: its reader leaves. */
function followedRows({ last, follow }: ReadLog): AsyncIterable<Row> {
  let stop = () => {}
  const rows = createRowQueue(() => stop(), mostWaitingRows)
  for (const line of last) rows.put(toRow(line))
  stop = follow((line) => rows.put(toRow(line)))
  return rows
}

function toRow({ at, level, text }: PrintedLine): Row {
  return { at: new Date(at).toISOString(), level, text }
}

function done({ release, warnings }: Switched): Row {
  return { done: true, release, warnings }
}

/** 0, which no release has, for a text that is no number. */
function releaseNumber(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0
}
