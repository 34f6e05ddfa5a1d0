import type { AdminCommand } from '../../../contract/admin-command.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { ListedAdminToken } from '../../store/admin-tokens.js'
import type { SpaceNames } from './ports.js'

/** An admin token without its text. Times are ISO 8601 in UTC. */
export interface AdminTokenEntry {
  id: string
  /** The first five characters of the token. */
  start: string
  name: string
  /** `name`: the address of the account, or the name of the team. */
  owner: { kind: 'personal' | 'team'; id: string; name: string }
  /** `email`: null when the account is gone. */
  madeBy: { id: string; email: string | null }
  /** Names of spaces, or the id of a removed one; null: all. */
  spaces: readonly string[] | null
  /** null: all that admin tokens may be used for. */
  commands: readonly AdminCommand[] | null
  /** Empty: from everywhere. */
  cidrs: readonly string[]
  createdAt: string
  expiresAt: string | null
  /** `day`: such as `2026-11-24`; `network`: a /24 or /48. Written a few seconds late. */
  lastUse: { day: string; network: string | null } | null
}

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
