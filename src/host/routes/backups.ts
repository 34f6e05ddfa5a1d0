import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import { defineTokenRoute } from '../../routes/admin/control-route.js'
import { type Backup, backUp } from '../flows/backups/backup.js'
import { exportCollection } from '../flows/backups/export.js'
import type { BackupPorts } from '../flows/backups/ports.js'

/** Below `/spaces/:space`. @param ports those of the running host */
export function backupRoutes(ports: () => BackupPorts): readonly Route[] {
  return [
    defineTokenRoute({
      method: 'GET',
      path: '/collections/:collection/export',
      body: null,
      home: 'space',
      who: 'admin',
      command: 'export',
      adminToken: 'export',
      streams: 'out',
      summary: 'All documents of a collection in `_id` order, one a line, and at the end `{ "end": { "count" } }`.',
      answers: { 200: 'lines' },
      errors: ['not_found', 'space_not_found'],
      async handle(context) {
        const { space = '', collection = '' } = context.params
        const { visitor } = context.caller
        return ndjson(context, await exportCollection(ports(), { space, collection, visitor }))
      },
    }),
    defineTokenRoute({
      method: 'GET',
      path: '/backup',
      body: null,
      home: 'space',
      who: 'admin',
      recent: true,
      command: 'backup',
      adminToken: 'backup',
      streams: 'out',
      summary: 'A backup of a space, as tar.gz.',
      errors: ['space_not_found'],
      async handle({ params, caller }) {
        const { archive, ...facts } = await backUp(ports(), { space: params.space ?? '', visitor: caller.visitor })
        return { status: 200, headers: archiveHeaders(params.space ?? '', facts), body: archive }
      },
    }),
  ]
}

/** Both parts of the name are plain: a space's name, and digits. The counts are for the tool. */
function archiveHeaders(
  space: string,
  { time, collections, documents }: Omit<Backup, 'archive'>,
): Record<string, string> {
  const name = `${space}-${time.slice(0, 16).replace(/[-:]/g, '')}Z.tar.gz`
  return {
    'content-type': 'application/gzip',
    'content-disposition': `attachment; filename="${name}"`,
    'x-latchkey-collections': String(collections),
    'x-latchkey-documents': String(documents),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
}
