/** The error of a call that this host does not support. Applications read its `code`, `not_supported`. */
export function notSupported(call: string): Error {
  return Object.assign(new Error(`${call} is not supported by this host.`), { code: 'not_supported' })
}

/** An unsupported call. It rejects, so that an application can go on without it. */
export function rejecting(call: string): () => Promise<never> {
  return () => Promise.reject(notSupported(call))
}
