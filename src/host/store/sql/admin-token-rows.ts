import { adminCommands } from '../../../contract/admin-command.js'
import { choiceIn, textsIn } from '../../../lib/json-fields.js'
import { readColumn } from '../../../store/json-columns.js'
import { toNumber } from '../../../store/sql/engine/schema.js'
import type { AdminTokenOwner, AdminTokenRecord } from '../admin-tokens.js'
import type { AdminTokensTable } from './people-tables.js'

export function toAdminTokenRow(token: AdminTokenRecord): AdminTokensTable {
  const { owner, spaces, commands, lastUse } = token
  return {
    id: token.id,
    token_hash: token.tokenHash,
    name: token.name,
    owner_user_id: owner.kind === 'personal' ? owner.userId : null,
    owner_team_id: owner.kind === 'team' ? owner.teamId : null,
    made_by: token.madeBy,
    spaces: spaces && JSON.stringify(spaces),
    commands: commands && JSON.stringify(commands),
    cidrs: JSON.stringify(token.cidrs),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_day: lastUse?.day ?? null,
    last_used_network: lastUse?.network ?? null,
  }
}

export function toAdminToken(row: AdminTokensTable): AdminTokenRecord {
  const { spaces, commands } = row
  const day = toNumber(row.last_used_day)
  return {
    id: row.id,
    tokenHash: row.token_hash,
    name: row.name,
    owner: ownerOf(row),
    madeBy: row.made_by,
    spaces: spaces === null ? null : readColumn({ spaces }, 'spaces', textsIn),
    commands: commands === null ? null : readColumn({ commands }, 'commands', textsIn).map(toCommand),
    cidrs: readColumn(row, 'cidrs', textsIn),
    createdAt: Number(row.created_at),
    expiresAt: toNumber(row.expires_at),
    lastUse: day === null ? null : { day, network: row.last_used_network },
  }
}

/** A command that this version does not know fails the read: without it the token could do more than it was made for. */
function toCommand(command: string) {
  return choiceIn({ command }, 'command', adminCommands)
}

function ownerOf({ owner_user_id: userId, owner_team_id: teamId, made_by }: AdminTokensTable): AdminTokenOwner {
  if (teamId !== null) return { kind: 'team', teamId }
  return { kind: 'personal', userId: userId ?? made_by }
}
