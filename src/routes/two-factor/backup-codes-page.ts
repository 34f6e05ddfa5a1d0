import type { HttpResponse } from '../../http/message.js'
import type { RouteContext } from '../../http/route.js'
import { showPage } from '../show-page.js'

/** Shows the codes once, in the response to the form itself: a redirect must not carry them (ASVS 5.0, 14.2.1). */
export function showBackupCodes(context: RouteContext, backupCodes: readonly string[]): Promise<HttpResponse> {
  const nextUrl = context.returnTo ?? `${context.authPath}/account#two-factor`
  return showPage(context, 'backup-codes', { backupCodes, nextUrl })
}
