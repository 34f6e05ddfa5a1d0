import { backups } from '../../contract/backups.js'
import { refuseAdminToken } from '../../flows/control/require-admin.js'
import type { HttpRequest } from '../../http/message.js'
import type { Route } from '../../http/route.js'
import { ndjson } from '../../http/streams/ndjson.js'
import { type CallerContext, defineTokenRoute } from '../../routes/admin/control-route.js'
import { queryChoice, queryText } from '../../routes/admin/fields.js'
import { mostArchiveBytes } from '../flows/backups/draft.js'
import type { RestoreRules } from '../flows/backups/fill-draft.js'
import type { BackupPorts } from '../flows/backups/ports.js'
import { restore } from '../flows/backups/restore.js'
import { undoRestore } from '../flows/backups/switch-generation.js'
import { progressRows } from './progress.js'
import type { Row } from './row-queue.js'

/** Below `/spaces/:space`. @param ports those of the running host */
export function restoreRoutes(ports: () => BackupPorts): readonly Route[] {
  return [restoreRoute(ports), undoRoute(ports)]
}

function restoreRoute(ports: () => BackupPorts): Route {
  return defineTokenRoute({
    ...backups.restore,
    streams: 'both',
    async handle(context) {
      const { params, request, caller, still } = context
      const rules = rulesIn(request, caller.kind === 'session')
      await judgeToken(context, rules)
      const archive = context.upload(mostArchiveBytes(ports()))
      const named = { space: params.space ?? '', visitor: caller.visitor }
      const { run } = await restore(ports(), { ...named, archive, rules, still })
      const done = { done: true, verifyOnly: rules.verifyOnly }
      const restored = async (report: (row: Row) => void) => ({
        ...done,
        ...(await run((each) => report({ ...each }))),
      })
      return ndjson(context, progressRows(context, restored))
    },
  })
}

function undoRoute(ports: () => BackupPorts): Route {
  return defineTokenRoute({
    ...backups.undo,
    streams: 'out',
    async handle(context) {
      const { params, caller } = context
      const undone = async () => {
        await undoRestore(ports(), { space: params.space ?? '', visitor: caller.visitor })
        return { done: true }
      }
      return ndjson(context, progressRows(context, undone))
    },
  })
}

/** @throws {AuthError} `invalid_request` */
function rulesIn(request: Pick<HttpRequest, 'query'>, isSession: boolean): RestoreRules {
  const flag = (name: string) => queryChoice(request, name, ['true', 'false']) === 'true'
  return {
    verifyOnly: flag('verify'),
    release: flag('release'),
    settings: flag('settings'),
    foreign: flag('foreign'),
    confirm: queryText(request, 'confirm'),
    isSession,
  }
}

/** A token for `restore` replaces data. @throws {AuthError} `admin_token_not_for_this` */
async function judgeToken({ caller, ports }: CallerContext, rules: RestoreRules): Promise<void> {
  if (caller.kind === 'session') return
  const mayDeploy = caller.token.commands?.includes('deploy') ?? true
  if (!rules.settings && !rules.foreign && (!rules.release || mayDeploy)) return
  const detail = 'A token for restore brings data, and for deploy code. Sign in to bring settings or a foreign archive.'
  await refuseAdminToken(ports, caller, { route: 'POST /restore', detail })
}
