import type { AdminTokenEntry } from '../../../contract/admin-tokens.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { ListedAdminToken } from '../../store/admin-tokens.js'
import type { SpaceNames } from './ports.js'

export async function toEntries(
  { spaces }: { spaces: Pick<SpaceNames, 'namesOf'> },
  tokens: readonly ListedAdminToken[],
): Promise<AdminTokenEntry[]> {
  const ids = new Set(tokens.flatMap((token) => token.spaces ?? []))
  const names = ids.size === 0 ? new Map<string, string>() : await spaces.namesOf([...ids])
  return tokens.map((token) => toEntry(token, names))
}

function toEntry(token: ListedAdminToken, names: ReadonlyMap<string, string>): AdminTokenEntry {
  const { id, name, owner, lastUse, expiresAt } = token
  return {
    id,
    start: id.slice(0, 5),
    name,
    owner: {
      kind: owner.kind,
      id: owner.kind === 'team' ? owner.teamId : owner.userId,
      name: token.ownerName,
    },
    madeBy: { id: token.madeBy, email: token.makerEmail },
    spaces: token.spaces?.map((space) => names.get(space) ?? space) ?? null,
    commands: token.commands,
    cidrs: token.cidrs,
    createdAt: isoTime(token.createdAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    lastUse: lastUse && { day: isoTime(lastUse.day).slice(0, 10), network: lastUse.network },
  }
}
