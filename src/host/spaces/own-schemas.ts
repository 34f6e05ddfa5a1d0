import { SettingsError } from '../../errors.js'
import type { SpaceFiles } from '../ports.js'
import type { HostSettings } from '../settings/host-settings.js'
import { openSchemas, type Schemas } from '../storage/postgres/schemas.js'

/**
 * The schemas of spaces; null where their data is in files.
 *
 * @throws {SettingsError} `database`, when it can hold no spaces
 */
export async function openOwnSchemas({ database }: Pick<HostSettings, 'database'>): Promise<Schemas | null> {
  if (database === null) return null
  const schemas = openSchemas(database)
  const message = await schemas.fault()
  if (message === null) return schemas
  await schemas.close()
  throw new SettingsError([{ setting: 'database', message }])
}

/** Removes the schemas of a space with its files. */
export function withSchemas(files: SpaceFiles, schemas: Schemas | null): SpaceFiles {
  if (schemas === null) return files
  return {
    ...files,
    async remove(spaceId) {
      await schemas.remove(spaceId)
      await files.remove(spaceId)
    },
  }
}
