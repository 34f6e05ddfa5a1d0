import { AuthError } from '../../../errors.js'
import type { SpaceName } from '../../../model/visitor.js'
import { underClaim } from './claim.js'
import type { SpacePorts } from './ports.js'

type SettlePorts = Pick<SpacePorts, 'spaces' | 'claims' | 'children' | 'directory' | 'timer' | 'nameOf'>

const firstMs = 1_000
const longestMs = 30_000

/**
 * Makes directory and child agree with the store again, after a step whose outcome is unknown or that came too late. While
 * that fails, it is tried again in the background.
 *
 * @param fault of that step. Once the claim is lost, another change may be under way, so this waits for it
 */
export async function settle(ports: SettlePorts, space: SpaceName, fault?: unknown): Promise<void> {
  const later = () => tryLater(ports, () => settleAgain(ports, space.id))
  if (isLostClaim(fault)) later()
  else await settleNow(ports, space.id).catch(later)
}

export function isLostClaim(fault: unknown): boolean {
  return fault instanceof AuthError && fault.code === 'not_current'
}

/**
 * Runs it a second later. While it fails, it is run again, each time after twice the wait, 30 s at most: an outage may take
 * hours.
 */
export function tryLater(ports: Pick<SettlePorts, 'timer'>, run: () => Promise<void>, waitMs = firstMs): void {
  ports.timer(waitMs, () => run().catch(() => tryLater(ports, run, Math.min(longestMs, 2 * waitMs))))
}

/** Another change of the space may be under way by now. So this takes the claim, as long as there is a space. */
async function settleAgain(ports: SettlePorts, spaceId: string): Promise<void> {
  if (await ports.spaces.find(spaceId)) {
    await underClaim(ports, { spaceId, kind: 'activate', by: null }, () => settleNow(ports, spaceId))
  } else {
    await settleNow(ports, spaceId)
  }
}

async function settleNow({ spaces, children, directory }: SettlePorts, spaceId: string): Promise<void> {
  const row = await spaces.find(spaceId)
  if (row === null) {
    directory.remove(spaceId)
    await children.remove(spaceId)
    return
  }
  directory.put(row)
  const running = children.status(spaceId).release
  if (running === null || running === row.release) return
  if (row.release === null) await children.stop(spaceId)
  else await children.start(spaceId)
}
