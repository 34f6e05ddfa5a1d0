/** What the host does not have. `code` is the contract. */
export function notSupported(call: string): Error {
  return Object.assign(new Error(`${call} is not supported by this host.`), { code: 'not_supported' })
}

/** A call that rejects, so that an application may go on without it. */
export function rejecting(call: string): () => Promise<never> {
  return () => Promise.reject(notSupported(call))
}
