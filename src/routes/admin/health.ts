import { z } from 'zod'
import { json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'

export const readHealthRoute = defineControlRoute({
  method: 'GET',
  path: '/health',
  body: null,
  who: 'member',
  summary: 'Shows the state of the process and its store, as auth.health() does.',
  answers: { 200: z.looseObject({ status: z.enum(['ok', 'degraded', 'down']) }) },
  handle: async ({ ports }) => json(200, await ports.operations.health()),
})
