import type { Keyring } from '../lib/keyring.js'
import type { AuditSeal } from '../store/audit/chain.js'

const purpose = 'audit'

/** Marks of the audit log under the `encryptionKey` setting, which the store never sees. */
export function auditSeal(keyring: Pick<Keyring, 'digest' | 'digests' | 'keyIds'>): AuditSeal {
  return {
    sealAudit: (text) => keyring.digest(purpose, text),
    checkAudit(text, mac) {
      if (keyring.digests(purpose, text).includes(mac)) return 'good'
      return keyring.keyIds.some((id) => mac.startsWith(`${id}.`)) ? 'bad' : 'unknown'
    },
  }
}
