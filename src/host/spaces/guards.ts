import type { SpaceName } from '../../model/visitor.js'
import { guardSpace, type HostRunning } from '../../wiring/for-host.js'
import type { HostSettings } from '../settings/host-settings.js'

type GuardedSpace = ReturnType<typeof guardSpace>

/** The guards of spaces: one for each space that was asked for. */
export interface SpaceGuards {
  of(space: SpaceName): GuardedSpace
  /** The space is gone. Its requests must have ended. */
  remove(spaceId: string): Promise<void>
  close(): Promise<void>
}

export function createSpaceGuards<Nouns>(
  running: HostRunning<Nouns>,
  { baseUrl, trustedProxies }: Pick<HostSettings, 'baseUrl' | 'trustedProxies'>,
): SpaceGuards {
  const guards = new Map<string, GuardedSpace>()
  const { origin } = new URL(baseUrl)
  return {
    of(space) {
      const known = guards.get(space.id)
      if (known) return known
      const made = guardSpace(running, { space, origin, trustedProxies })
      guards.set(space.id, made)
      return made
    },
    async remove(spaceId) {
      const known = guards.get(spaceId)
      guards.delete(spaceId)
      await known?.close()
    },
    async close() {
      await Promise.all([...guards.values()].map((guard) => guard.close()))
      guards.clear()
    },
  }
}
