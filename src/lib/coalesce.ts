/**
 * Makes many calls few: while one run is under way, any number of calls ask for exactly one more after it. So whoever
 * calls knows that a whole run begins after the call, and a storm of calls is a chain of single runs.
 *
 * A run that fails is over like any other; `run` itself says what there is to say about it.
 *
 * @param pause calls back when the next run may begin, at once by default
 * @example const read = coalesced(() => feed.read(), (next) => void timer(25, next))
 */
export function coalesced(run: () => Promise<unknown>, pause: (next: () => void) => void = atOnce): () => void {
  let busy = false
  let again = false

  function start(): void {
    again = busy
    if (busy) return
    busy = true
    const rest = () => pause(finish)
    run().then(rest, rest)
  }

  function finish(): void {
    busy = false
    if (again) start()
  }

  return start
}

function atOnce(next: () => void): void {
  next()
}
