import type { SpacePorts } from './ports.js'

const pageSize = 200

/** Fills the directory from the store. For the start of the host. Returns the ids of the spaces that are to be started. */
export async function fillDirectory({
  spaces,
  directory,
}: Pick<SpacePorts, 'spaces' | 'directory'>): Promise<string[]> {
  const deployed: string[] = []
  let after: string | null = null
  for (;;) {
    const page = await spaces.list({ after, limit: pageSize })
    for (const space of page) {
      directory.put(space)
      if (space.release !== null) deployed.push(space.id)
    }
    const last = page.at(-1)
    if (!last || page.length < pageSize) return deployed
    after = last.name
  }
}
