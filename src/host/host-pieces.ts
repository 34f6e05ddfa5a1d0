import { AuthError } from '../errors.js'
import type { Topic } from '../model/doctor/report.js'
import { hostChecks } from './doctor/host-checks.js'
import type { BackupPorts } from './flows/backups/ports.js'
import type { CollectionPorts } from './flows/collections/ports.js'
import { namesOver } from './flows/people/step.js'
import { openPeople, type People } from './people/people.js'
import type { HostPieces } from './pieces.js'
import { backupRoutes } from './routes/backups.js'
import { collectionRoutes } from './routes/collections/index.js'
import { environmentRoutes } from './routes/environment.js'
import { homeRoute } from './routes/home.js'
import { logRoute } from './routes/logs.js'
import { hostPages } from './routes/pages/index.js'
import { peopleRoutes } from './routes/people.js'
import { releaseRoutes } from './routes/releases.js'
import { restoreRoutes } from './routes/restores.js'
import { spaceRoutes } from './routes/spaces.js'
import { openSpaces } from './spaces/open.js'
import type { ChildPrograms } from './spaces/programs.js'
import type { HostNouns } from './store/host-nouns.js'
import { hostExtension } from './store/sql/host-extension.js'

interface Opened {
  nouns: HostNouns
  ports: BackupPorts
  collections: CollectionPorts
  project: string
  topic: Topic
}

/**
 * The whole host: people, spaces and their routes.
 *
 * @param programs null: those of this package
 */
export function createHostPieces(programs: ChildPrograms | null = null): HostPieces<HostNouns> {
  let people: People | null = null
  let opened: Opened | null = null

  const openPeopleOr503 = () => people ?? closed()
  const host = () => opened ?? closed()
  const ports = () => host().ports
  const peoplePorts = () => {
    const { nouns } = host()
    return { ...nouns, spaces: namesOver(nouns.spaces), inForce: openPeopleOr503().inForce }
  }
  return {
    extension: hostExtension,
    routes: [
      homeRoute(host),
      ...peopleRoutes(peoplePorts),
      ...spaceRoutes(ports),
      ...releaseRoutes(ports),
      ...environmentRoutes(ports),
      logRoute(ports),
      ...collectionRoutes(() => host().collections),
      ...backupRoutes(ports),
      ...restoreRoutes(ports),
      ...hostPages(peoplePorts, ports, () => host().collections),
    ],
    async createRights(nouns, { revocations, world, keyring, limiter, clock, policy }) {
      const { subscribe } = revocations
      people = await openPeople({ nouns, subscribe, timer: world.timer, keyring, limiter, clock, policy })
      return people
    },
    firstAdmin: ({ firstAdmin }) => firstAdmin,
    wrappingKeys: ({ environment }) => environment.wrappingKeys(),
    async openSpaces(ground) {
      const { ports, collections, ...spaces } = await openSpaces(ground, programs)
      const { running, settings, folder } = ground
      const { nouns } = running
      const topic = hostChecks({
        settings,
        folder,
        people: nouns,
        crashedSpaces: spaces.crashed,
        deployed: spaces.deployed,
        isolation: spaces.isolation,
        backups: spaces.backups,
        now: ground.running.clock.now,
      })
      opened = { nouns, ports, collections, project: settings.project, topic }
      return spaces
    },
    topics: () => (opened === null ? [] : [opened.topic]),
    close: async () => people?.close(),
  }
}

/** While the host opens. */
function closed(): never {
  throw new AuthError('store_unavailable')
}
