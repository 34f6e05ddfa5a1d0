import type { HttpRequest } from '../http/message.js'

/** What the page behind a mailed link finds in its address: the link's token, and how the form that it held ended. */
export function pageValues({ query }: Pick<HttpRequest, 'query'>): { token: string; done: boolean; error: string } {
  const given = new URLSearchParams(query)
  return { token: given.get('token') ?? '', done: given.has('done'), error: given.get('error') ?? '' }
}
