import type { Route } from '../../../http/route.js'
import { defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import { listBackups } from '../../flows/backups/backup.js'
import type { BackupPorts } from '../../flows/backups/ports.js'
import { actorNames } from './actors.js'
import { shownBytes } from './shown-bytes.js'

export function backupsPage(ports: () => BackupPorts): Route {
  return defineAdminPage({
    home: 'space',
    path: '/backup',
    at: 'backups',
    template: 'backups',
    summary: 'Lists the last backups of a space, and downloads a new one.',
    async values({ params, admin, ports: own }) {
      const backups = await listBackups(ports(), { space: params.space ?? '', visitor: admin.visitor })
      const nameOf = await actorNames(
        own,
        backups.map(({ madeBy }) => madeBy),
      )
      return {
        items: backups.map(({ at, bytes, sha256, madeBy }) => ({
          ...{ at, sha256, size: shownBytes(bytes) },
          madeBy: nameOf(madeBy),
        })),
      }
    },
  })
}
