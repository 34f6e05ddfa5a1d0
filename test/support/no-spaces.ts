import { AuthError } from '../../src/errors.js'
import type { HostPieces } from '../../src/host/pieces.js'

/** A host without tables of its own: no rights, no spaces, and so nothing to set up. */
export const noSpaces: HostPieces<'none'> = {
  extension: { migrations: {}, migrationsTable: 'none', isLastAdmin: async () => false, nouns: () => 'none' },
  createRights: async () => ({ rights: { of: () => null }, adminTokens: null }),
  routes: [],
  firstAdmin: () => ({ exists: async () => true, create: async () => 'exists' }),
  wrappingKeys: async () => [],
  openSpaces: async () => ({
    directory: { find: () => null, isSpace: () => false },
    find: async () => {
      throw new AuthError('space_not_found')
    },
    crashed: async () => [],
    isolation: { mode: 'process', absent: null },
    deployed: async () => [],
    backups: async () => [],
    close: async () => {},
  }),
  topics: () => [],
  close: async () => {},
}
