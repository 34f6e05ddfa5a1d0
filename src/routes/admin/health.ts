import { running } from '../../contract/running.js'
import { json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'

export const readHealthRoute = defineControlRoute({
  ...running.health,
  handle: async ({ ports }) => json(200, await ports.operations.health()),
})
