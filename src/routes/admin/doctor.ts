import { doctor } from '../../contract/doctor.js'
import { isFromTool } from '../../flows/control/require-admin.js'
import { runDoctor } from '../../flows/control/run-doctor.js'
import { serializeCookie } from '../../http/cookies.js'
import { type HttpResponse, singleHeader } from '../../http/message.js'
import { json } from '../../http/problem.js'
import type { Route, RouteContext } from '../../http/route.js'
import { forwardedBy, schemeOf } from '../../http/seen-request.js'
import { createIpSet } from '../../lib/ip-ranges.js'
import { doctorProofHeader } from '../../model/doctor/proof.js'
import { clientHeaderIn, type DoctorEcho } from '../../model/doctor-echo.js'
import type { Settings } from '../../settings.js'
import { defineControlRoute } from './control-route.js'

export const readDoctorRoute = defineControlRoute({
  ...doctor.read,
  async handle({ ports, request }) {
    return json(200, await runDoctor(ports, { forwardingHeader: clientHeaderIn(forwardedBy(request)) }))
  },
})

const forAdministrators = defineControlRoute({ ...doctor.echo, handle: async (context) => echo(context) })

/** Without a proof, a route for administrators like any other. A wrong proof is no credential. */
export const echoRoute: Route = {
  ...forAdministrators,
  async handle(context, body) {
    const { ports, request } = context
    const { method, path } = request
    const proof = singleHeader(request, doctorProofHeader)
    const isTool = context.adminToken === null && isFromTool(ports, { method, path, proof })
    return isTool ? echo(context) : forAdministrators.handle(context, body)
  },
}

const cookieSeconds = 60

function echo({ ports, settings, request, visitor, authPath }: RouteContext): HttpResponse {
  const cookie = serializeCookie('doctor', 'check', cookieSeconds, settings, authPath)
  const seen: DoctorEcho = {
    installationId: ports.doctor.installationId,
    baseUrl: `${settings.origin}${settings.urlPath}`,
    ip: visitor.ip,
    fromTrustedProxy: isTrusted(settings, visitor.ip),
    scheme: schemeOf(request),
    host: singleHeader(request, 'host'),
    headers: forwardedBy(request),
    trustedProxies: kindOf(settings),
    cookie,
  }
  return json(200, seen, { 'set-cookie': cookie })
}

function isTrusted({ trustedProxies }: Pick<Settings, 'trustedProxies'>, ip: string | null): boolean {
  return trustedProxies.kind === 'cidrs' && ip !== null && createIpSet(trustedProxies.cidrs)(ip)
}

function kindOf({ trustedProxies: { kind } }: Pick<Settings, 'trustedProxies'>): DoctorEcho['trustedProxies'] {
  if (kind === 'none') return 'none'
  return kind === 'hops' ? 'count' : 'networks'
}
