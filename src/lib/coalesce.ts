/**
 * Merges many calls into few runs: while one run is under way, all further calls ask for exactly one more run after it.
 * Every caller can rely on a whole run that begins after its call. Many calls at once become a chain of single runs.
 *
 * A run that fails ends like any other. `run` itself reports its failure.
 *
 * @param pause calls back when the next run may begin; by default at once
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
