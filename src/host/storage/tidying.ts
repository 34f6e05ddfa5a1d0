/**
 * Runs `page` again and again until it has deleted everything, one loop at a time. A request for it while it runs is not lost.
 * A page that fails ends it, until the next request.
 */
export function createTidying(mayGoOn: () => boolean, page: () => Promise<boolean>): () => Promise<void> {
  let isRunning = false
  let again = false

  return async () => {
    again = true
    if (isRunning) return
    isRunning = true
    while (again && mayGoOn()) {
      again = false
      const more = await page().catch(() => false)
      again ||= more
    }
    isRunning = false
  }
}
