import { chooseIsolation } from '../children/choose-isolation.js'
import type { Isolation } from '../children/isolation.js'
import type { Premises } from '../children/start.js'
import type { SpaceNouns } from '../store/space-nouns.js'
import type { SpacesGround } from './ground.js'

type Ground = Pick<SpacesGround<SpaceNouns>, 'settings' | 'folder' | 'logger' | 'running'>

/**
 * How this host keeps applications apart. Once the sandbox has worked, a host without it does not start by itself.
 *
 * @throws {SettingsError} as `chooseIsolation` does
 */
export async function openIsolation(
  { settings, folder, logger, running }: Ground,
  premises: Omit<Premises, 'isolation'>,
): Promise<Isolation> {
  const { isolation: wanted, limits } = settings
  const { sandboxMark } = running.nouns
  const hasWorked = await sandboxMark.isSet()
  const asked = { wanted, data: folder.path, isNetworkForAll: limits.network === true, premises, hasWorked }
  const chosen = await chooseIsolation(asked)
  if (chosen.mode === 'sandbox' && !hasWorked) await sandboxMark.set(running.clock.now())
  if (chosen.absent !== null) {
    const fields = { event: 'sandbox_absent', ...chosen.absent }
    logger.warn(fields, 'Applications run without a sandbox: their code can reach other spaces and this host.')
  }
  return chosen
}
