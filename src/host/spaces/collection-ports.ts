import { AuthError } from '../../errors.js'
import type { CollectionPorts } from '../flows/collections/ports.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { receiveSpool } from '../folder/spool.js'
import { createWorkers, type Workers } from '../workers/workers.js'
import type { SpacesData } from './generations.js'
import type { SpacesGround } from './ground.js'
import type { ChildPrograms } from './programs.js'

/** The processes in which the queries of the control API run. */
export function openWorkers<Nouns>(
  { settings, world, logger }: SpacesGround<Nouns>,
  { mingo, query, queryMs }: Pick<ChildPrograms, 'mingo' | 'query' | 'queryMs'>,
): Workers {
  return createWorkers({
    mingo,
    ...(query && { program: query }),
    ...(queryMs !== undefined && { queryMs }),
    literalDots: settings.compat.dotPaths === 'literal',
    documentBytes: settings.limits.documentBytes,
    timer: world.timer,
    onFault: (fault) => logger.error({ event: 'query_worker', ...fault }, 'The worker of a query ended early.'),
  })
}

/** What flows about documents reach. */
export function collectionPorts<Nouns>(
  { running, settings, folder }: Pick<SpacesGround<Nouns>, 'running' | 'settings' | 'folder'>,
  { spaces, files, clock, random, uploads }: SpacePorts,
  { data, workers }: { data: SpacesData; workers: Workers },
): CollectionPorts {
  return {
    ...{ spaces, files, clock, random, workers, uploads },
    spool: (id, upload) => receiveSpool(folder.run, id, upload),
    audit: running.ports.audit,
    open: ({ id, generation }) => data.open(id, generation),
    enterBuild: oneBuildEach(),
    // Escapes and blanks make a text longer than what is stored.
    uploadBytes: 4 * settings.limits.spaceBytes,
  }
}

/** In memory: an index that a process which ended has left unfinished is built on by the next request. */
function oneBuildEach(): CollectionPorts['enterBuild'] {
  const building = new Set<string>()
  return (spaceId) => {
    if (building.has(spaceId)) {
      const detail = 'This space builds an index already. Try again when it has ended.'
      throw new AuthError('space_busy', { detail })
    }
    building.add(spaceId)
    return () => void building.delete(spaceId)
  }
}
