import { spaces } from '../../contract/spaces.js'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { paging } from '../../routes/admin/fields.js'
import { takeOver } from '../flows/spaces/claim.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { createSpace, listSpaces, readSpace, removeSpace } from '../flows/spaces/spaces.js'

/** @param ports those of the running host */
export function spaceRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineControlRoute({
      ...spaces.list,
      handle: async ({ request }) => json(200, await listSpaces(ports(), paging(request))),
    }),
    defineControlRoute({
      ...spaces.create,
      form: { page: '/spaces', section: 'create-space', done: 'space_created', keeps: ['name'] },
      handle: async ({ admin }, { name }) => json(201, await createSpace(ports(), { name, visitor: admin.visitor })),
    }),
    ...oneSpaceRoutes(ports),
  ]
}

function oneSpaceRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineControlRoute({
      ...spaces.read,
      handle: async ({ params }) => json(200, await readSpace(ports(), params.space ?? '')),
    }),
    defineControlRoute({
      ...spaces.takeOver,
      form: { page: '/spaces/:space', section: 'state', done: 'taken_over' },
      handle: async ({ params, admin }) =>
        json(200, await takeOver(ports(), { space: params.space ?? '', visitor: admin.visitor })),
    }),
    defineControlRoute({
      ...spaces.remove,
      form: {
        page: '/spaces/:space',
        section: 'remove',
        done: 'space_removed',
        donePage: { page: '/spaces', section: 'spaces' },
      },
      async handle({ params, admin }, { confirm }) {
        await removeSpace(ports(), { name: params.space ?? '', confirm, visitor: admin.visitor })
        return empty(204)
      },
    }),
  ]
}
