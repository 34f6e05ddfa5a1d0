/**
 * Starts measuring; what it returns says how many milliseconds have passed since. Plain JS, because the worker of the
 * hash pool imports it and has to start unbuilt.
 *
 * @returns {() => number}
 */
export function startStopwatch() {
  const startedAt = performance.now()
  return () => performance.now() - startedAt
}
