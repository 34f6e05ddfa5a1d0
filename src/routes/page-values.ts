import { wishedLanding } from '../http/landing.js'
import type { RouteContext } from '../http/route.js'

/** What pages find in their address. */
export interface PageValues {
  /** Of the mailed link behind which the page stands. */
  token: string
  /** That the form of the page has succeeded. */
  done: boolean
  /** With which code it failed. */
  error: string
  /** Where its form is to end, when that may be; else empty. */
  redirect: string
}

/** What the page finds in its address: the link's token, how the form that it held ended, and where it is to lead. */
export function pageValues({ request, settings }: Pick<RouteContext, 'request' | 'settings'>): PageValues {
  const given = new URLSearchParams(request.query)
  return {
    token: given.get('token') ?? '',
    done: given.has('done'),
    error: given.get('error') ?? '',
    redirect: wishedLanding(settings, given.get('redirect')) ?? '',
  }
}
