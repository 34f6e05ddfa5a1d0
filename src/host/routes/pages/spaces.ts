import { pagingQuery } from '../../../contract/fields.js'
import type { SpaceEntry } from '../../../contract/spaces.js'
import type { Route } from '../../../http/route.js'
import { paging, queryText } from '../../../routes/admin/fields.js'
import { defineAdminPage, listed } from '../../../routes/admin/pages/admin-page.js'
import type { SpacePorts } from '../../flows/spaces/ports.js'
import { listSpaces, readSpace } from '../../flows/spaces/spaces.js'
import { shownBytes } from './shown-bytes.js'

export function spacesPage(ports: () => SpacePorts): Route {
  return defineAdminPage({
    home: 'host',
    who: 'member',
    path: '/spaces',
    at: 'spaces',
    template: 'spaces',
    summary: 'Lists the spaces with their state; creates one.',
    query: pagingQuery,
    async values(context) {
      const { request } = context
      const { items, pager } = listed(context, await listSpaces(ports(), paging(request)))
      return { items: items.map(shownSpace), pager, kept: queryText(request, 'name') ?? '' }
    },
  })
}

export function spacePage(ports: () => SpacePorts): Route {
  return defineAdminPage({
    home: 'host',
    who: 'member',
    path: '/spaces/:space',
    at: 'space',
    template: 'space',
    summary: 'Shows a space: address, release, state, memory, restarts. Removes it.',
    async values({ params }) {
      const space = await readSpace(ports(), params.space ?? '')
      const { name, busyBy, busySince } = space
      const busy = busySince !== null && {
        by: busyBy === null ? '' : await ports().nameOf(busyBy),
        since: busySince,
        action: `/spaces/${name}/take-over`,
      }
      return { shown: shownSpace(space), busy, removeAction: `/spaces/${name}` }
    },
  })
}

function shownSpace({ name, url, release, state, memoryBytes, restarts, requests, createdAt, busyWith }: SpaceEntry) {
  return {
    name,
    url,
    release: release === null ? '' : String(release),
    stateText: `admin.space.${state}`,
    tone: state === 'ready' ? 'on' : state === 'crashed' ? 'warn' : '',
    memory: memoryBytes === 0 ? '' : shownBytes(memoryBytes),
    restarts: String(restarts),
    requests: String(requests),
    createdAt,
    busyText: busyWith === null ? '' : `admin.space.busy.${busyWith}`,
  }
}
