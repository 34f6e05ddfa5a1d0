import { AuthError } from '../../errors.js'
import { canonicalCode } from '../../lib/readable-code.js'
import { hasFactor } from '../../model/factors/kinds.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { BackupCode } from '../../model/second-factor.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { atVersion, requirePassword } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { codeText, type FactorPorts, factorNotice, requireFactor } from './second-factor.js'

export type BackupCodePorts = FactorPorts & PasswordLimitPorts & Pick<Ports, 'sessions' | 'passwords' | 'mails'>

/** How many a user has. */
export const backupCodes = 10

export interface DraftedBackupCodes {
  /** What the user writes down; shown once. */
  readable: readonly string[]
  kept: readonly BackupCode[]
}

/** New codes of 50 bits each, which no 20 guesses an hour find; at rest there are only their keyed digests. */
export function draftBackupCodes(ports: Pick<Ports, 'random' | 'keyring'>, userId: string): DraftedBackupCodes {
  const readable = Array.from({ length: backupCodes }, () => `${ports.random.readable(5)}-${ports.random.readable(5)}`)
  const kept = readable.map((code) => ({
    id: ports.random.id(),
    codeHash: ports.keyring.digest('backup-code', codeText(userId, canonicalCode(code))),
  }))
  return { readable, kept }
}

/**
 * Gives new backup codes, which void all others, after the password and a code.
 *
 * @throws {AuthError} `not_found` without a second factor, `invalid_credentials`, `recent_login_required`,
 *   `invalid_code`, `rate_limited`, `token_revoked`, `busy`
 */
export async function replaceBackupCodes(
  ports: BackupCodePorts,
  principal: SessionPrincipal,
  input: { password: string | null; code: string; visitor: Visitor; device: string | null },
): Promise<readonly string[]> {
  const event = 'backup_codes_replaced'
  const state = await readProfile(ports, principal)
  if (!hasFactor(state.user)) throw new AuthError('not_found')
  await requirePassword(ports, state, { ...input, event })
  const proof = await requireFactor(ports, state, { ...input, event })

  const { readable, kept } = draftBackupCodes(ports, state.user.id)
  await atVersion(ports, { principal, state, refusal: 'invalid_code' }, async ({ user, session }) => {
    const facts = { userId: user.id, sessionId: session.id, detail: { secondFactor: proof.kind } }
    const done = await ports.secondFactors.replaceBackupCodes(
      { userId: user.id, version: user.version, proof, backupCodes: kept },
      ports.clock.now(),
      {
        audit: auditEvent(ports, event, input.visitor, facts),
        ...factorNotice(ports, { user, visitor: input.visitor, change: 'codes' }),
      },
    )
    return done || null
  })
  return readable
}
