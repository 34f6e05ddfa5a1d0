import type { Route } from '../../../http/route.js'
import { defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import type { SpacePorts } from '../../flows/spaces/ports.js'
import { listReleases, type ReleaseEntry } from '../../flows/spaces/releases.js'
import { actorNames, type ShownActor } from './actors.js'
import { shownBytes } from './shown-bytes.js'

export function releasesPage(ports: () => SpacePorts): Route {
  return defineAdminPage({
    home: 'space',
    who: 'member',
    path: '/releases',
    at: 'releases',
    template: 'releases',
    summary: 'Lists the releases of a space; puts a former one in force, or takes the code away.',
    async values(context) {
      const releases = await listReleases(ports(), context.params.space ?? '')
      const nameOf = await actorNames(
        context.ports,
        releases.map(({ author }) => author),
      )
      return {
        items: releases.map((release) => shownRelease(release, nameOf(release.author))),
        deployed: releases.some(({ state }) => state === 'current'),
      }
    },
  })
}

function shownRelease({ number, state, git, dirty, bytes, createdAt, fault }: ReleaseEntry, author: ShownActor) {
  return {
    number: String(number),
    hash: git?.hash.slice(0, 12) ?? '',
    branch: git?.branch ?? '',
    dirty: dirty === true,
    size: shownBytes(bytes),
    author,
    createdAt,
    stateText: `admin.releases.${state}`,
    tone: state === 'current' ? 'on' : state === 'failed' ? 'warn' : '',
    fault: fault ?? '',
    activatable: state === 'former' || state === 'failed',
    action: `/releases/${number}/activate`,
  }
}
