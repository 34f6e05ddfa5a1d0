import { z } from 'zod'
import { empty, json } from '../../http/problem.js'
import type { Route } from '../../http/route.js'
import { defineControlRoute } from '../../routes/admin/control-route.js'
import { flagField } from '../../routes/admin/fields.js'
import { time } from '../../routes/answer-schemas.js'
import { listVariables, removeVariable, setVariable } from '../flows/spaces/environment.js'
import type { SpacePorts } from '../flows/spaces/ports.js'
import { actorSchema } from './actor-schema.js'

const variableSchema = z
  .object({
    name: z.string(),
    encrypted: z.boolean(),
    version: z.number().describe('How often it was set.'),
    setAt: time('When it was set.'),
    setBy: actorSchema,
    value: z.string().optional().describe('Never of an encrypted one.'),
  })
  .describe('A variable of the environment of a space.')

/** @param ports those of the running host */
export function environmentRoutes(ports: () => SpacePorts): readonly Route[] {
  return [
    defineControlRoute({
      method: 'GET',
      path: '/env',
      body: null,
      home: 'space',
      who: 'admin',
      command: 'env',
      summary: 'Lists the environment of a space by name.',
      answers: { 200: z.object({ items: z.array(variableSchema) }) },
      errors: ['space_not_found'],
      handle: async ({ params }) => json(200, { items: await listVariables(ports(), params.space ?? '') }),
    }),
    defineControlRoute({
      method: 'POST',
      path: '/env',
      body: z.strictObject({
        name: z.string().max(100).describe('1 to 64 letters, digits and underscores, first no digit.'),
        value: z.string().describe('At most 32 KiB.'),
        encrypted: flagField.optional().describe('No answer ever shows the value. Default: false.'),
      }),
      home: 'space',
      who: 'admin',
      recent: true,
      command: 'set-env',
      form: { page: '/env', section: 'variable', done: 'variable_set', keeps: ['name'] },
      summary: 'Sets a variable. The application starts again with it.',
      answers: { 204: null },
      errors: ['space_not_found', 'space_busy', 'not_current', 'bundle_invalid', 'application_timeout'],
      async handle({ params, admin, form }, { name, encrypted = false, value }) {
        // Browsers send each line break of a form as CR LF.
        const set = { name, encrypted, value: form ? value.replaceAll('\r\n', '\n') : value }
        await setVariable(ports(), { space: params.space ?? '', variable: set, visitor: admin.visitor })
        return empty(204)
      },
    }),
    defineControlRoute({
      method: 'DELETE',
      path: '/env/:name',
      body: null,
      home: 'space',
      who: 'admin',
      recent: true,
      command: 'remove-env',
      form: { page: '/env', section: 'variables', done: 'variable_removed' },
      summary: 'Removes a variable. The application starts again without it.',
      answers: { 204: null },
      errors: ['not_found', 'space_not_found', 'space_busy', 'not_current', 'bundle_invalid', 'application_timeout'],
      async handle({ params, admin }) {
        const { space = '', name = '' } = params
        await removeVariable(ports(), { space, name, visitor: admin.visitor })
        return empty(204)
      },
    }),
  ]
}
