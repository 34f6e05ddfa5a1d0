import { backups } from '../../contract/backups.js'
import type { HttpResponse } from '../../http/message.js'
import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import { whileAllowed } from '../../http/streams/while-allowed.js'
import type { Visitor } from '../../model/visitor.js'
import { defineTokenRoute } from '../../routes/admin/control-route.js'
import { queryChoice } from '../../routes/admin/fields.js'
import { type Backup, backUp } from '../flows/backups/backup.js'
import { exportCollection, exportFile } from '../flows/backups/export.js'
import type { BackupPorts } from '../flows/backups/ports.js'

/** Below `/spaces/:space`. @param ports those of the running host */
export function backupRoutes(ports: () => BackupPorts): readonly Route[] {
  return [
    defineTokenRoute({
      ...backups.exportCollection,
      streams: 'out',
      async handle(context) {
        const { space = '', collection = '' } = context.params
        const isFile = queryChoice(context.request, 'download', ['true', 'false']) === 'true'
        const named = { space, collection, visitor: context.caller.visitor }
        if (isFile) return fileAnswer(ports(), named, context.still)
        return ndjson(context, whileAllowed(await exportCollection(ports(), named), context.still))
      },
    }),
    defineTokenRoute({
      ...backups.create,
      streams: 'out',
      async handle({ params, caller, still }) {
        const { archive, ...facts } = await backUp(ports(), { space: params.space ?? '', visitor: caller.visitor })
        return { status: 200, headers: archiveHeaders(params.space ?? '', facts), body: whileAllowed(archive, still) }
      },
    }),
  ]
}

/** An error on the way cuts the response off. */
async function fileAnswer(
  ports: BackupPorts,
  named: { space: string; collection: string; visitor: Visitor },
  still: () => Promise<void>,
): Promise<HttpResponse> {
  const { count, file } = await exportFile(ports, named)
  const headers = fileHeaders('application/jsonl', `${named.collection}.jsonl`)
  return {
    status: 200,
    headers: { ...headers, 'x-latchkey-documents': String(count) },
    body: whileAllowed(file, still),
  }
}

/** Both parts of the name are plain: a space's name, and digits. The counts are for the tool. */
function archiveHeaders(
  space: string,
  { time, collections, documents }: Omit<Backup, 'archive'>,
): Record<string, string> {
  const name = `${space}-${time.slice(0, 16).replace(/[-:]/g, '')}Z.tar.gz`
  return {
    ...fileHeaders('application/gzip', name),
    'x-latchkey-collections': String(collections),
    'x-latchkey-documents': String(documents),
  }
}

/** @param name of letters, digits, `-`, `_` and dots */
function fileHeaders(type: string, name: string): Record<string, string> {
  return {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
}
