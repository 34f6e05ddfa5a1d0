import { SettingsError } from '../../errors.js'
import type { SpaceFiles } from '../ports.js'
import type { HostSettings } from '../settings/host-settings.js'
import { openSchemas, type Schemas } from '../storage/postgres/schemas.js'

/**
 * The schemas of spaces; null where their data is in files.
 *
 * @throws {SettingsError} `database`, when the user of the URL may make no schemas
 */
export async function openOwnSchemas({ database }: Pick<HostSettings, 'database'>): Promise<Schemas | null> {
  if (database === null) return null
  const schemas = openSchemas(database)
  if (await schemas.mayCreate()) return schemas
  await schemas.close()
  const cure = 'Run as the owner of the database: GRANT CREATE ON DATABASE <database> TO <user>'
  const message = `its user may not create schemas, and each space has one. ${cure}`
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
