import { z } from 'zod'
import { json } from '../../http/problem.js'
import { shownSettings } from '../../settings/shown-settings.js'
import { defineControlRoute } from './control-route.js'

export const readSettingsRoute = defineControlRoute({
  method: 'GET',
  path: '/settings',
  body: null,
  who: 'admin',
  summary: 'Shows the effective settings. Of secrets it shows only whether they are set.',
  answers: { 200: z.looseObject({ baseUrl: z.string(), basePath: z.string() }) },
  handle: async ({ settings }) => json(200, shownSettings(settings)),
})
