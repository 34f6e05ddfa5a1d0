import type { Route } from '../../../http/route.js'
import { queryText } from '../../../routes/admin/fields.js'
import { defineAdminPage } from '../../../routes/admin/pages/admin-page.js'
import { listVariables } from '../../flows/spaces/environment.js'
import type { SpacePorts } from '../../flows/spaces/ports.js'
import { actorNames } from './actors.js'

/** Longer values are shown in part. The API has them whole. */
const shownCharacters = 200

export function environmentPage(ports: () => SpacePorts): Route {
  return defineAdminPage({
    home: 'space',
    path: '/env',
    at: 'env',
    template: 'environment',
    summary: 'Lists the environment of a space by name; sets and removes variables.',
    async values(context) {
      const variables = await listVariables(ports(), context.params.space ?? '')
      const nameOf = await actorNames(
        context.ports,
        variables.map(({ setBy }) => setBy),
      )
      return {
        items: variables.map(({ name, encrypted, version, setAt, setBy, value = '' }) => ({
          name,
          encrypted,
          version: String(version),
          setAt,
          setBy: nameOf(setBy),
          value: value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value,
          action: `/env/${name}`,
        })),
        kept: queryText(context.request, 'name') ?? '',
      }
    },
  })
}
