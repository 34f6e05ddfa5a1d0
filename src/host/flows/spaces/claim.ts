import { AuthError } from '../../../errors.js'
import type { Claim, ClaimKind } from '../../store/claims.js'
import type { SpacePorts } from './ports.js'

/** How long a killed process blocks a space. */
const leaseMs = 15_000
const renewMs = 5_000

/** A busy space, by what holds it. */
const busyWith: Readonly<Record<ClaimKind, string>> = {
  deploy: 'A deploy of this space',
  activate: 'An activation of a release of this space',
  undeploy: 'An undeploy of this space',
  env: 'A change of the environment of this space',
  restore: 'A restore of this space',
  remove: 'The removal of this space',
}

/**
 * Runs the only change of a space. The lease is renewed for as long as it runs.
 *
 * @throws {AuthError} `space_busy`, `space_not_found`
 */
export async function underClaim<T>(
  ports: Pick<SpacePorts, 'claims' | 'timer'>,
  { spaceId, kind }: { spaceId: string; kind: ClaimKind },
  run: (claim: Claim) => Promise<T>,
): Promise<T> {
  const taken = await ports.claims.take(spaceId, kind, leaseMs)
  if (taken === null) throw new AuthError('space_not_found')
  if ('heldFor' in taken) {
    throw new AuthError('space_busy', {
      detail: `${busyWith[taken.heldFor]} is under way. Try again when it has ended.`,
    })
  }
  const stop = keepRenewed(ports, taken)
  try {
    return await run(taken)
  } finally {
    stop()
    // When the store is down, the lease ends by itself.
    await ports.claims.release(taken).catch(() => {})
  }
}

/** Only a lost claim ends it: while the store is down, the lease may still be ours. */
function keepRenewed({ claims, timer }: Pick<SpacePorts, 'claims' | 'timer'>, claim: Claim): () => void {
  let isOver = false
  let cancel = timer(renewMs, renew)

  function renew(): void {
    const again = (isHeld: boolean) => {
      if (isHeld && !isOver) cancel = timer(renewMs, renew)
    }
    claims.renew(claim, leaseMs).then(again, () => again(true))
  }

  return () => {
    isOver = true
    cancel()
  }
}

/** @throws {AuthError} `not_current` for a write that came after the claim was lost */
export function requireHeld(isHeld: boolean): void {
  if (!isHeld) throw new AuthError('not_current')
}
