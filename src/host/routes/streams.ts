import type { HttpRequest } from '../../http/message.js'
import type { Visitor } from '../../model/visitor.js'
import { queryChoice, queryText } from '../../routes/admin/fields.js'
import { deploy } from '../flows/deploy.js'
import { readLogs } from '../flows/logs.js'
import { activateRelease } from '../flows/releases.js'
import type { SpacePorts } from '../flows/space-ports.js'
import type { Switched } from '../flows/switch-release.js'
import { progressRows, type Row } from './progress.js'

/** A request to a route whose answer is NDJSON, after the caller was judged. */
export interface StreamRequest {
  params: Readonly<Record<string, string>>
  request: Pick<HttpRequest, 'query' | 'headers'>
  visitor: Visitor
  requestId: string
}

/** POST `/spaces/:space/releases`. */
export function deployRows(
  ports: SpacePorts,
  { params, request, visitor, requestId }: StreamRequest,
  archive: AsyncIterable<Uint8Array>,
): AsyncIterable<Row> {
  const dirty = request.headers['x-latchkey-git-dirty']
  const deployment = {
    space: params.space ?? '',
    archive,
    dirty: dirty === 'true' ? true : dirty === 'false' ? false : null,
    visitor,
  }
  return progressRows(async (report) => done(await deploy(ports, deployment, (step) => report({ ...step }))), requestId)
}

/** POST `/spaces/:space/releases/:n/activate`. */
export function activateRows(ports: SpacePorts, { params, visitor, requestId }: StreamRequest): AsyncIterable<Row> {
  const wanted = { space: params.space ?? '', number: releaseNumber(params.n), visitor }
  return progressRows(
    async (report) => done(await activateRelease(ports, wanted, (step) => report({ ...step }))),
    requestId,
  )
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
  const lines = await readLogs(ports, {
    space: params.space ?? '',
    follow: queryText(request, 'follow') === 'true',
    ...(since !== undefined && { since }),
    ...(level !== undefined && { level }),
  })
  return rowsOf(lines)
}

async function* rowsOf(lines: Awaited<ReturnType<typeof readLogs>>): AsyncGenerator<Row> {
  let count = 0
  for await (const { at, level, text } of lines) {
    yield { at: new Date(at).toISOString(), level, text }
    count += 1
  }
  yield { end: { count } }
}

function done({ release, warnings }: Switched): Row {
  return { done: true, release, warnings }
}

/** 0, which no release has, for a text that is no number. */
function releaseNumber(text: string | undefined): number {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0
}
