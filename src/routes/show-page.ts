import type { HttpResponse } from '../http/message.js'
import { html } from '../http/problem.js'
import { bannerValues } from '../http/refusal.js'
import type { RouteContext } from '../http/route.js'

/**
 * A page of ours, with the values that every page gets. Its forms may redirect to trusted origins, because
 * `redirectSuccessUrl` and the return address may be there.
 */
export async function showPage(
  { templates, authPath, settings, acting }: RouteContext,
  name: string,
  values: Readonly<Record<string, unknown>>,
): Promise<HttpResponse> {
  await templates.prepare()
  const common = { minLength: settings.password.minLength, ...bannerValues(acting()) }
  const page = templates.page(name, { ...common, ...values, basePath: authPath })
  return html(200, page, { formOrigins: settings.trustedOrigins, ownRequests: values.passkeys === true })
}
