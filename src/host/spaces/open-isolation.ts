import { chooseIsolation } from '../children/choose-isolation.js'
import type { Isolation } from '../children/isolation.js'
import type { Premises } from '../children/start.js'
import type { SpaceNouns } from '../store/space-nouns.js'
import type { SpacesGround } from './ground.js'

/**
 * How this host keeps applications apart.
 *
 * @throws {SettingsError} as `chooseIsolation` does
 */
export async function openIsolation(
  { settings, folder, logger }: Pick<SpacesGround<SpaceNouns>, 'settings' | 'folder' | 'logger'>,
  premises: Omit<Premises, 'isolation'>,
): Promise<Isolation> {
  const { isolation: wanted, limits } = settings
  const asked = { wanted, data: folder.path, isNetworkForAll: limits.network === true, premises }
  const { isolation, absent } = await chooseIsolation(asked)
  if (absent !== null) {
    const fields = { event: 'sandbox_absent', ...absent }
    logger.warn(fields, 'Applications run without a sandbox: by their code they can reach each other and this host.')
  }
  return isolation
}
