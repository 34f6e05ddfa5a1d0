import { z } from 'zod'
import { actorSchema } from './actor.js'
import { flagField, time } from './fields.js'
import { defineOperations } from './operation.js'

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

export const environment = defineOperations({
  list: {
    method: 'GET',
    path: '/env',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'env',
    summary: 'Lists the environment of a space by name.',
    answers: { 200: z.object({ items: z.array(variableSchema) }) },
    errors: ['space_not_found'],
  },
  set: {
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
    summary: 'Sets a variable. The application starts again with it.',
    answers: { 204: null },
    errors: ['space_not_found', 'space_busy', 'not_current', 'bundle_invalid', 'application_timeout'],
  },
  remove: {
    method: 'DELETE',
    path: '/env/:name',
    body: null,
    home: 'space',
    who: 'admin',
    recent: true,
    command: 'remove-env',
    summary: 'Removes a variable. The application starts again without it.',
    answers: { 204: null },
    errors: ['not_found', 'space_not_found', 'space_busy', 'not_current', 'bundle_invalid', 'application_timeout'],
  },
})
