import type { Route } from '../../../http/route.js'
import type { BackupPorts } from '../../flows/backups/ports.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import type { FindPeople } from '../people-answers.js'
import { adminTokensPage } from './admin-tokens.js'
import { backupsPage } from './backups.js'
import { collectionsPage } from './collections.js'
import { documentsPage } from './documents.js'
import { environmentPage } from './environment.js'
import { logPage } from './logs.js'
import { projectPage } from './project.js'
import { releasesPage } from './releases.js'
import { spacePage, spacesPage } from './spaces.js'

/** The table of the host's own admin pages. @param ports those of the running host */
export function hostPages(
  people: FindPeople,
  ports: () => BackupPorts,
  collections: () => CollectionPorts,
): readonly Route[] {
  return [
    spacesPage(ports),
    spacePage(ports),
    releasesPage(ports),
    environmentPage(ports),
    logPage(ports),
    collectionsPage(collections),
    documentsPage(collections),
    backupsPage(ports),
    projectPage(people),
    adminTokensPage(people),
  ]
}
