import { codePoints, isTooLong } from './password-text.js'
import type { PasswordFault } from './passwords.js'

export interface PasswordPolicy {
  /** Code points of the normal form. */
  minLength: number
}

/** Parts of an address that are shorter say nothing about a password that holds them. */
const shortestLocalPart = 4
const shortestDomainLabel = 5

/**
 * Why this password may not be chosen for that address, in the order of `PasswordFault` but for `breached`, which the
 * caller asks last and only if nothing else is wrong. No rule asks for kinds of characters (OWASP ASVS 5.0, 6.2.5).
 *
 * The checks read a folded copy; what is hashed is the password itself. The word that made it fail is never told.
 *
 * @example await passwordFaults('Password2024', 'alice@example.com', { minLength: 10 }) // ['common']
 */
export async function passwordFaults(
  password: string,
  canonicalEmail: string,
  policy: PasswordPolicy,
): Promise<PasswordFault[]> {
  if (isTooLong(password)) return ['too_long'] // nothing else is worth reading that far

  const faults: PasswordFault[] = []
  const folded = password.normalize('NFKC').toLowerCase()
  if (codePoints(password.normalize('NFC')) < policy.minLength) faults.push('too_short')
  if (isMonotonous(folded) || (await isCommon(folded))) faults.push('common')
  if (isLikeEmail(folded, canonicalEmail)) faults.push('similar_to_email')
  return faults
}

/**
 * A listed password, or one with up to four digits or signs behind it: `sunshine` is too short for most settings, and
 * `sunshine1!` is what people make of it. Without that, few entries are long enough to matter (OWASP ASVS 5.0, 6.2.4).
 */
async function isCommon(folded: string): Promise<boolean> {
  if (folded.includes('\n')) return false

  const { commonPasswords } = await import('./common-passwords.js')
  const decoration = /[\p{N}\p{P}\p{S}\s]{0,4}$/u.exec(folded)?.[0].length ?? 0
  for (let cut = 0; cut <= decoration; cut += 1) {
    if (commonPasswords.includes(`\n${folded.slice(0, folded.length - cut)}\n`)) return true
  }
  return false
}

/** One character over and over, or a run like `abcdefghij`; longer ones are in nobody's list. */
function isMonotonous(folded: string): boolean {
  const points = Array.from(folded, (character) => character.codePointAt(0) ?? 0)
  if (points.length > 32) return false

  const steps = new Set(points.slice(1).map((point, index) => point - (points[index] ?? 0)))
  const [step = 0] = steps
  return steps.size === 1 && Math.abs(step) <= 1
}

/** Holds the address, its local part (with or without its tag), its domain or a telling label of the domain. */
function isLikeEmail(folded: string, canonicalEmail: string): boolean {
  const email = canonicalEmail.toLowerCase()
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at)
  const domain = email.slice(at + 1)

  const locals = [local, local.split('+')[0] ?? ''].filter((part) => part.length >= shortestLocalPart)
  const labels = domain.split('.').slice(0, -1)
  const longLabels = labels.filter((label) => label.length >= shortestDomainLabel)
  return [email, ...locals, domain, ...longLabels].some((word) => word !== '' && folded.includes(word))
}
