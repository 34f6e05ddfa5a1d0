/**
 * Starts measuring. The result is a function that returns the milliseconds since. Plain JS, because the worker of the hash
 * pool imports it and must start without a build.
 *
 * @returns {() => number}
 */
export function startStopwatch() {
  const startedAt = performance.now()
  return () => performance.now() - startedAt
}
