import type { HttpResponse } from '../http/message.js'
import { html } from '../http/problem.js'
import type { RouteContext } from '../http/route.js'

/**
 * A page of ours, with what every page is given. Its forms may end at trusted origins too, since `redirectSuccessUrl`
 * and a wished landing may lie there.
 */
export async function showPage(
  { templates, authPath, settings }: RouteContext,
  name: string,
  values: Readonly<Record<string, unknown>>,
): Promise<HttpResponse> {
  await templates.prepare()
  const page = templates.page(name, { minLength: settings.password.minLength, ...values, basePath: authPath })
  return html(200, page, { formOrigins: settings.trustedOrigins })
}
