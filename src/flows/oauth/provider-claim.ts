import type { VerifiedBy } from '../../model/admin-role.js'
import type { Identity } from '../../model/identity.js'
import type { UserRecord } from '../../model/user.js'
import type { ProviderAccount } from '../../oauth/provider.js'
import type { Ports } from '../../ports.js'

/** On what a provider's claim of an address rests. */
export function claimProof({ providers }: Pick<Ports, 'providers'>, provider: string): VerifiedBy {
  return providers.find(provider)?.isAuthority ? 'provider' : 'trusted_provider'
}

/** Whether the claim suffices to join that account. The setting `trustEmail` alone leads into no administrator's account. */
export function mayJoin(
  ports: Pick<Ports, 'providers' | 'policy'>,
  { emailCanonical }: UserRecord,
  provider: string,
): boolean {
  return claimProof(ports, provider) === 'provider' || !ports.policy.adminEmails.includes(emailCanonical)
}

/** The identity that the provider has just confirmed, for that user. */
export function claimedIdentity(
  { clock }: Pick<Ports, 'clock'>,
  { id: userId }: UserRecord,
  { provider, account }: { provider: string; account: ProviderAccount },
): Identity {
  return { provider, subject: account.id, userId, linkedAt: clock.now() }
}
