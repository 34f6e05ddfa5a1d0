import type { AdminCommand } from '../../contract/admin-command.js'
import { AuthError } from '../../errors.js'
import { checkDoctorProof } from '../../model/doctor/proof.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Right } from '../../model/right.js'
import type { Visitor } from '../../model/visitor.js'
import type { AdminTokenCaller, Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { noteOnce } from './watch-audit.js'

/** How often the refusals of one admin token are recorded. */
const refusalNotedMs = 60_000
/** Clocks of two processes differ by at most this much. */
const skewSeconds = 60

/** What a route of the control API asks of its caller. */
export interface AdminRule {
  who: 'admin' | 'member'
  recent: boolean
}

/**
 * Decides whether a signed-in user may call a route of the control API. The order of checks: no impersonation, right, limit,
 * second factor, recent sign-in.
 *
 * @throws {AuthError} `impersonation_forbidden`, `forbidden`, `rate_limited`, `two_factor_enrolment_required`,
 *   `recent_login_required` (ASVS 5.0, 7.5.3)
 */
export async function requireAdmin(
  ports: Pick<Ports, 'clock' | 'limiter' | 'policy' | 'rights'>,
  principal: SessionPrincipal,
  rule: AdminRule,
): Promise<Right> {
  const { admin } = ports.policy
  if (principal.actor !== null) throw new AuthError('impersonation_forbidden')
  const right = ports.rights.of(principal)
  if (right === null || (rule.who === 'admin' && right !== 'ADMIN')) throw new AuthError('forbidden')
  await requireRoom(ports, 'admin', principal.userId)
  if (admin.twoFactor && !principal.amr.includes('mfa')) throw new AuthError('two_factor_enrolment_required')
  if (rule.recent && !isRecentSignIn(ports, principal)) {
    throw new AuthError('recent_login_required')
  }
  return right
}

/** What a route of the control API asks of an admin token. */
export interface AdminTokenRule {
  /** The command that the token must be good for; `any`: each token may; null: none. */
  command: AdminCommand | 'any' | null
  /** Method and path of the route, for the audit log. */
  route: string
}

/** An admin token that may call a route, and the visitor to pass to a flow: it names the token as the actor. */
export interface AdmittedToken {
  token: AdminTokenCaller
  visitor: Visitor
}

type TokenPorts = Pick<Ports, 'adminTokens' | 'limiter' | 'audit' | 'clock' | 'random'>

/**
 * Decides whether an admin token may call a route of the control API. Neither a second factor nor a recent sign-in is asked.
 *
 * @throws {AuthError} those of `AdminTokens.identify`; `rate_limited`, `admin_token_not_for_this` (ASVS 5.0, 13.2.2)
 */
export async function requireAdminToken(
  ports: TokenPorts,
  { text, visitor }: { text: string; visitor: Visitor },
  rule: AdminTokenRule,
): Promise<AdmittedToken> {
  if (ports.adminTokens === null) throw new AuthError('unauthenticated')
  const token = await ports.adminTokens.identify(text, visitor)
  const admitted = { token, visitor: { ...visitor, actor: { kind: 'adminToken', tokenId: token.tokenId } as const } }
  await requireRoom(ports, 'admin', token.tokenId)
  const { command } = rule
  if (command === null) return refuseAdminToken(ports, admitted, rule)
  if (command === 'any' || (token.commands?.includes(command) ?? true)) return admitted
  return refuseAdminToken(ports, admitted, { ...rule, detail: `This admin token is not for ${command}.` })
}

/**
 * Refuses an admin token that is narrowed to other spaces, or asks for more than its command. The audit log gets one event a
 * minute and token.
 *
 * @throws {AuthError} `admin_token_not_for_this`
 */
export async function refuseAdminToken(
  ports: TokenPorts,
  { visitor }: Pick<AdmittedToken, 'visitor'>,
  { route, detail }: Pick<AdminTokenRule, 'route'> & { detail?: string },
): Promise<never> {
  const facts = { outcome: 'failure', detail: { route } } as const
  await noteOnce(ports, auditEvent(ports, 'admin_token_refused', visitor, facts), refusalNotedMs)
  throw new AuthError('admin_token_not_for_this', detail === undefined ? {} : { detail })
}

/** @throws {AuthError} `rate_limited` */
export async function requireRoom(
  { limiter }: Pick<Ports, 'limiter'>,
  kind: Parameters<Ports['limiter']['account']>[0],
  subject: string,
): Promise<void> {
  const verdict = await limiter.account(kind, subject)
  if (verdict?.allowed === false) throw new AuthError('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
}

/**
 * Whether the user signed in at most `admin.recent` ago. A sign-in in the future is not recent: the clock that wrote it, or
 * ours, is wrong.
 */
export function isRecentSignIn(
  { clock, policy }: Pick<Ports, 'clock' | 'policy'>,
  { authTime }: Pick<SessionPrincipal, 'authTime'>,
): boolean {
  const now = clock.now()
  return authTime <= now + skewSeconds && now - authTime <= policy.admin.recentSeconds
}

/**
 * Whether the tool of this application sent the request: it carries a proof for exactly this method and path, made within the
 * last minute with one of the application's secrets.
 *
 * @param proof the value of the header; null when it was not sent once
 */
export function isFromTool(
  { keyring, clock, policy }: Pick<Ports, 'keyring' | 'clock' | 'policy'>,
  { method, path, proof }: { method: string; path: string; proof: string | null },
): boolean {
  if (proof === null) return false
  const { origin } = new URL(policy.authUrl)
  return checkDoctorProof(keyring, { method, origin, path }, proof, clock.now())
}
