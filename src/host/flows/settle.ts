import type { SpaceName } from '../../model/visitor.js'
import { underClaim } from './claim.js'
import type { SpacePorts } from './space-ports.js'

type SettlePorts = Pick<SpacePorts, 'spaces' | 'claims' | 'children' | 'directory' | 'timer'>

const againMs = 1_000
const tries = 60

/**
 * Makes directory and child agree with the store again, after a step whose outcome is unknown or that came too late. While
 * that fails, it is tried again in the background.
 */
export async function settle(ports: SettlePorts, space: SpaceName): Promise<void> {
  await settleNow(ports, space.id).catch(() => settleLater(ports, space.id, tries))
}

/** Later, another change of the space may be under way. So this takes the claim. */
function settleLater(ports: SettlePorts, spaceId: string, left: number): void {
  if (left === 0) return
  const attempt = () => underClaim(ports, { spaceId, kind: 'activate' }, () => settleNow(ports, spaceId))
  ports.timer(againMs, () => void attempt().catch(() => settleLater(ports, spaceId, left - 1)))
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
