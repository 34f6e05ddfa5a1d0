import { z } from 'zod'
import { actorSchema } from './actor.js'
import { confirmField, pageSchema, pagingQuery, time } from './fields.js'
import { defineOperations } from './operation.js'
import type { Entry } from './reading.js'

const changes = ['deploy', 'activate', 'undeploy', 'env', 'restore', 'remove', 'hold'] as const

const spaceSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    createdAt: time('When it was created.'),
    release: z.number().nullable().describe('The number of the release in force; null: nothing is deployed.'),
    state: z
      .enum(['stopped', 'starting', 'ready', 'crashed'])
      .describe('`crashed`: down after ten crashes. It is tried again at long intervals.'),
    memoryBytes: z.number(),
    restarts: z.number().describe('How often its process was started again without being asked to.'),
    requests: z.number().describe('How many requests it answers now.'),
    busyWith: z
      .enum(changes)
      .nullable()
      .describe('The change that is under way. `hold`: an administrator has taken the space over for the next change.'),
    busyBy: actorSchema.describe('Who changes it; null also where that is unknown.'),
    busySince: time('Since when.').nullable(),
  })
  .describe('A space.')

/** A space as administrators and members see it. */
export type SpaceEntry = Entry<typeof spaceSchema>

const endedSchema = z
  .object({ kind: z.enum(changes), by: actorSchema, since: time('Since when.') })
  .describe('What was ended.')

/** What was ended when a space was taken over. */
export type EndedWork = Entry<typeof endedSchema>

export const spaces = defineOperations({
  list: {
    method: 'GET',
    path: '/spaces',
    body: null,
    home: 'host',
    who: 'member',
    command: 'spaces',
    summary: 'Lists the spaces by name.',
    query: pagingQuery,
    answers: { 200: pageSchema(spaceSchema) },
  },
  create: {
    method: 'POST',
    path: '/spaces',
    body: z.strictObject({
      name: z.string().max(100).describe('1 to 31 lower-case letters, digits and hyphens, first a letter.'),
    }),
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'create',
    summary: 'Creates a space.',
    answers: { 201: spaceSchema },
    errors: ['space_exists'],
  },
  read: {
    method: 'GET',
    path: '/spaces/:space',
    body: null,
    home: 'host',
    who: 'member',
    summary: 'Shows a space.',
    answers: { 200: spaceSchema },
    errors: ['space_not_found'],
  },
  takeOver: {
    method: 'POST',
    path: '/spaces/:space/take-over',
    body: null,
    home: 'host',
    who: 'admin',
    recent: true,
    command: 'take-over',
    summary: 'Ends the change of a space that is under way, and keeps the space for your next change, for a minute.',
    answers: { 200: endedSchema },
    errors: ['space_not_found', 'not_found'],
  },
  remove: {
    method: 'DELETE',
    path: '/spaces/:space',
    body: z.strictObject({ confirm: confirmField.describe('The name of the space.') }),
    home: 'host',
    who: 'admin',
    recent: true,
    confirm: true,
    command: 'remove-space',
    summary: 'Removes a space with its code, data, tokens and settings.',
    answers: { 204: null },
    errors: ['space_not_found', 'space_busy', 'not_current'],
  },
})
