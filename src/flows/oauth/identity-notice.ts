import type { OutboxMail } from '../../model/outbox-mail.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { notice } from '../steps/notices.js'

/** The notice to the user that a provider was linked or removed (ASVS 5.0, 6.3.7). */
export function identityNotice(
  ports: Pick<Ports, 'mails' | 'clock' | 'providers'>,
  {
    user,
    provider,
    visitor,
    change,
  }: { user: UserRecord; provider: string; visitor: Visitor; change: 'linked' | 'unlinked' },
): { mail?: OutboxMail } {
  const values = {
    // A provider that is no longer in the settings can still be removed.
    provider: ports.providers.find(provider)?.label ?? provider,
    linked: change === 'linked' ? 'yes' : '',
    unlinked: change === 'unlinked' ? 'yes' : '',
  }
  return notice(ports, 'identity-changed', { user, userAgent: visitor.userAgent, values })
}
