import type { HttpResponse } from '../../../http/message.js'
import { type AdminContext, type AdminPage, showAdminPage } from './admin-page.js'

/** A new secret, as the answer to the POST that made it. */
export interface NewSecret {
  /** The page of its form, which the reader returns to. */
  page: Pick<AdminPage, 'path' | 'at'>
  /** Labels. */
  heading: string
  about: string
  name: string
  badge: string
  secret: string
  /** A command line that uses it; empty for none. */
  example: string
}

export function showSecret(context: AdminContext, { page, ...values }: NewSecret): Promise<HttpResponse> {
  return showAdminPage(context, { ...page, template: 'secret-page' }, { ...values, backPath: page.path })
}
