import { stopImpersonating } from '../../flows/control/impersonation/stop.js'
import { empty, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { clearedSession } from './answer.js'

export const stopImpersonatingRoute = defineRoute({
  method: 'POST',
  path: '/impersonation/stop',
  limit: 'other',
  body: null,
  summary: 'Ends an impersonation and clears the cookies. The administrator signs in again. Works without one too.',
  answers: { 204: null },
  cookies: ['access', 'refresh'],
  duringImpersonation: true,
  async handle(context) {
    const { ports, cookies, visitor, settings, form } = context
    const stopped = await stopImpersonating(ports, {
      accessToken: cookies.access,
      refreshToken: cookies.refresh,
      visitor,
    })
    // The cookies of an ordinary session stay.
    const cleared = stopped ? { 'set-cookie': clearedSession(context) } : {}
    return form ? redirect(303, settings.redirectFailUrl, cleared) : empty(204, cleared)
  },
})
