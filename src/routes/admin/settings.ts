import { running } from '../../contract/running.js'
import { json } from '../../http/problem.js'
import { shownSettings } from '../../settings/shown-settings.js'
import { defineControlRoute } from './control-route.js'

export const readSettingsRoute = defineControlRoute({
  ...running.settings,
  handle: async ({ settings }) => json(200, shownSettings(settings)),
})
