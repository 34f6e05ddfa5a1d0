import { environment } from '../../contract/environment.js'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { listVariables, removeVariable, setVariable } from '../flows/spaces/environment.js'
import type { SpacePorts } from '../flows/spaces/ports.js'

/** @param ports those of the running host */
export function environmentRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineControlRoute({
      ...environment.list,
      handle: async ({ params }) => json(200, { items: await listVariables(ports(), params.space ?? '') }),
    }),
    defineControlRoute({
      ...environment.set,
      form: { page: '/env', section: 'variable', done: 'variable_set', keeps: ['name'] },
      async handle({ params, admin, form }, { name, encrypted = false, value }) {
        // Browsers send each line break of a form as CR LF.
        const set = { name, encrypted, value: form ? value.replaceAll('\r\n', '\n') : value }
        await setVariable(ports(), { space: params.space ?? '', variable: set, visitor: admin.visitor })
        return empty(204)
      },
    }),
    defineControlRoute({
      ...environment.remove,
      form: { page: '/env', section: 'variables', done: 'variable_removed' },
      async handle({ params, admin }) {
        const { space = '', name = '' } = params
        await removeVariable(ports(), { space, name, visitor: admin.visitor })
        return empty(204)
      },
    }),
  ]
}
