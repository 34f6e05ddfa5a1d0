import { allowedReturnTo, withReturnTo } from '../http/landing.js'
import type { RouteContext } from '../http/route.js'

/** What pages find in their address. */
export interface PageValues {
  /** Of the mailed link behind which the page stands. */
  token: string
  /** That the form of the page has succeeded. */
  done: boolean
  /** That whoever could go on from here wants the page from its start. */
  again: boolean
  /** With which code it failed. */
  error: string
  /** And, where a password was too weak, for which reasons. */
  reasons: string[]
  /** Where its form is to end, when that may be; else empty. */
  redirect: string
  /** The same as the query of a link to another page, with its question mark; else empty. */
  carry: string
}

/** The providers that pages offer, by the last part of their address. */
export function providerLinks({ ports }: Pick<RouteContext, 'ports'>): { path: string; provider: string }[] {
  return ports.providers.list().map(({ name, label }) => ({ path: name, provider: label }))
}

/** What the page finds in its address: the link's token, how the form that it held ended, and where it is to lead. */
export function pageValues({ request, settings }: Pick<RouteContext, 'request' | 'settings'>): PageValues {
  const given = new URLSearchParams(request.query)
  const returnTo = allowedReturnTo(settings, given.get('redirect'))
  return {
    token: given.get('token') ?? '',
    done: given.has('done'),
    again: given.has('again'),
    error: given.get('error') ?? '',
    reasons: (given.get('reasons') ?? '').split(',', 5),
    redirect: returnTo ?? '',
    carry: withReturnTo('', returnTo),
  }
}
