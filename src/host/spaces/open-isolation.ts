import { AuthError, SettingsError } from '../../errors.js'
import { chooseIsolation } from '../children/choose-isolation.js'
import type { Isolation } from '../children/isolation.js'
import type { Premises } from '../children/start.js'
import type { SpaceNouns } from '../store/space-nouns.js'
import type { SpacesGround } from './ground.js'

type Ground = Pick<SpacesGround<SpaceNouns>, 'settings' | 'folder' | 'logger' | 'running'>

/**
 * How this host keeps applications apart. Once the sandbox has worked, a host without it does not start by itself.
 *
 * @throws {SettingsError} as `chooseIsolation` does; `isolation` when the store cannot note that the sandbox works
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
  if (chosen.mode === 'sandbox' && !hasWorked) {
    await sandboxMark.set(running.clock.now()).catch((error: unknown) => {
      throw unmarked(error)
    })
  }
  if (chosen.absent !== null) {
    const fields = { event: 'sandbox_absent', ...chosen.absent }
    logger.warn(fields, 'Applications run without a sandbox: their code can reach other spaces and this host.')
  }
  return chosen
}

/** Without the note, a later start could be weaker by itself. */
function unmarked(error: unknown): SettingsError {
  const cause = error instanceof AuthError ? error.details.cause : error
  const reason = cause instanceof Error ? cause.message.split('\n')[0] : 'for an unknown reason'
  const message = `works as a sandbox, which the store could not note: ${reason}. See that it can be written, and that its disk has room`
  return new SettingsError([{ setting: 'isolation', message }])
}
