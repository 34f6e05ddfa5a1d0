import type { Space, SpaceDirectory } from './space.js'

/** A space as the directory knows it. */
export interface DirectoryRow {
  id: string
  name: string
  /** null: nothing is deployed, so it is not found. */
  release: number | null
}

/** The directory, and how the flows of this process keep it current: one host process has a folder for itself. */
export interface OpenSpaceDirectory extends SpaceDirectory {
  /** Adds a space, or replaces what was known of it. */
  put(row: DirectoryRow): void
  remove(id: string): void
}

/** @param open makes what the front asks of a space. Called once for each id, when something is deployed in it */
export function createSpaceDirectory(open: (space: Pick<DirectoryRow, 'id' | 'name'>) => Space): OpenSpaceDirectory {
  const rows = new Map<string, DirectoryRow>()
  const opened = new Map<string, Space>()

  function spaceOf({ id, name }: DirectoryRow): Space {
    const known = opened.get(id)
    if (known) return known
    const space = open({ id, name })
    opened.set(id, space)
    return space
  }

  return {
    find(name) {
      const row = rows.get(name)
      return row && row.release !== null ? spaceOf(row) : null
    },
    isSpace: (name) => rows.has(name),
    put: (row) => void rows.set(row.name, row),
    remove(id) {
      opened.delete(id)
      for (const row of rows.values()) if (row.id === id) rows.delete(row.name)
    },
  }
}
