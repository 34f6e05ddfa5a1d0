import type { OneTimePurpose, OneTimeToken } from '../../model/one-time-token.js'
import { type DroppedTokens, isDropped } from '../account-losses.js'
import { toToken, toTokenRow } from '../one-time-token-rows.js'
import type { OneTimeTokens } from '../one-time-tokens.js'
import { Refused } from '../refused.js'
import type { OneTimeTokensTable } from '../rows.js'
import { type Places, surplusTokens } from '../surplus.js'
import { writeAudit } from './audit.js'
import { expiredAtOnce } from './devices.js'
import type { Query } from './engine/query.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { writeMail } from './outbox.js'
import { removeDue } from './prune.js'

export function createOneTimeTokens(steps: Steps): OneTimeTokens {
  return {
    ...findTokens(steps),

    put: (token, mail, { audit, ...places }) =>
      steps.step(async (unit) => {
        await keepToken(unit, token, places)
        if (mail) writeMail(unit, mail)
        if (audit) await writeAudit(unit, audit)
      }),

    countTry: (id, limit) =>
      steps.step(async (unit) => {
        const row = await unit.get(oneTimeTokens, id)
        if (!row || row.tries >= limit) return false
        unit.put(oneTimeTokens, { ...row, tries: row.tries + 1 })
        return true
      }),

    renew: (id, { tokenHash, codeHash, expiresAt }, mail, { now, audit }) =>
      steps.step(async (unit) => {
        const row = await unit.get(oneTimeTokens, id)
        if (!row || row.expires_at <= now) return false
        unit.put(oneTimeTokens, { ...row, token_hash: tokenHash, code_hash: codeHash, expires_at: expiresAt, tries: 0 })
        writeMail(unit, mail)
        await writeAudit(unit, audit)
        return true
      }),

    ...reuseTokens(steps),

    prune: (now, count) =>
      removeDue(steps, oneTimeTokens, (view) =>
        view.find(oneTimeTokens, { expires_at: { lte: now } }, { sort: { expires_at: 1 }, limit: count }),
      ),
  }
}

/** Tokens that stay when they are used, with another purpose or payload. */
function reuseTokens(steps: Steps): Pick<OneTimeTokens, 'claim' | 'reseal' | 'note'> {
  return {
    claim: (id, from, to, now) =>
      steps.step(async (unit) => {
        const row = await unit.get(oneTimeTokens, id)
        if (!row || row.purpose !== from || row.expires_at <= now) return false
        unit.put(oneTimeTokens, { ...row, purpose: to, payload: null })
        return true
      }),

    reseal: (id, payload, { purpose, tries, now, audit }) =>
      steps.step(async (unit) => {
        const row = await unit.get(oneTimeTokens, id)
        if (!row || row.purpose !== purpose || row.tries !== tries || row.expires_at <= now) return false
        unit.put(oneTimeTokens, { ...row, payload, tries: tries + 1 })
        if (audit) await writeAudit(unit, audit)
        return true
      }),

    note: (id, payload) =>
      steps.step(async (unit) => {
        const row = await unit.get(oneTimeTokens, id)
        if (row) unit.put(oneTimeTokens, { ...row, payload })
      }),
  }
}

function findTokens(steps: Steps): Pick<OneTimeTokens, 'findByHash' | 'listByHandle' | 'listByEmail' | 'listByUser'> {
  async function live(purpose: OneTimePurpose, now: number, query: Query): Promise<OneTimeToken[]> {
    const newestFirst = { created_at: -1, ordinal: -1 } as const
    const rows = await steps.glance((view) => view.find(oneTimeTokens, query, { sort: newestFirst }))
    return rows.filter((row) => row.purpose === purpose && row.expires_at > now).map(toToken)
  }
  return {
    async findByHash(purpose, tokenHashes, now) {
      if (tokenHashes.length === 0) return null
      return (await live(purpose, now, { token_hash: { in: tokenHashes } }))[0] ?? null
    },

    async listByHandle(purpose, handleHashes, now) {
      return handleHashes.length === 0 ? [] : live(purpose, now, { handle_hash: { in: handleHashes } })
    },

    listByEmail: (purpose, email, now) => live(purpose, now, { email }),

    listByUser: (purpose, userId, now) => live(purpose, now, { user_id: userId }),
  }
}

/** The part of `put` that is about tokens, for steps of another noun. */
export async function keepToken(
  unit: Unit,
  token: OneTimeToken,
  { now, ...places }: Places & { now: number },
): Promise<void> {
  // Sooner than housekeeping: what strangers asked for and left holds addresses and hashes.
  const expired = await unit.find(oneTimeTokens, { expires_at: { lte: now } }, { limit: expiredAtOnce })
  unit.remove(oneTimeTokens, expired)
  const newestFirst = { created_at: -1, ordinal: -1 } as const
  const sharedBy = places.sharedBy ?? 'subject'
  const others = await unit.find(
    oneTimeTokens,
    { [sharedBy]: token[sharedBy], purpose: token.purpose },
    { sort: newestFirst },
  )
  const live = others.filter(({ expires_at }) => expires_at > now)
  unit.remove(oneTimeTokens, [
    ...others.filter(({ expires_at }) => expires_at <= now),
    ...surplusTokens(live, token, places),
  ])
  unit.put(oneTimeTokens, toTokenRow(token, unit))
}

/** The token, if it lives and is for a user. @throws {Refused} else */
export async function requireToken(
  unit: Unit,
  id: string,
  { purpose, now }: { purpose: OneTimePurpose; now: number },
): Promise<OneTimeTokensTable & { user_id: string }> {
  const row = await unit.get(oneTimeTokens, id)
  if (!row || row.purpose !== purpose || row.expires_at <= now || row.user_id === null) throw new Refused()
  return { ...row, user_id: row.user_id }
}

/** The user's tokens that must not outlive a step of another noun. */
export async function dropTokens(unit: Unit, userId: string, dropped: DroppedTokens): Promise<void> {
  const rows = await unit.find(oneTimeTokens, { user_id: userId })
  const over = rows.filter(({ purpose }) => isDropped(dropped, purpose))
  unit.remove(oneTimeTokens, over)
}

/** Whatever gives an address to an account ends every registration that waits for it. */
export async function dropRegistrations(unit: Unit, email: string): Promise<void> {
  unit.remove(oneTimeTokens, await unit.find(oneTimeTokens, { email, purpose: 'registration' }))
}
