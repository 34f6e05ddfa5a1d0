import type { PasswordFault } from './passwords.js'
import { codePoints, isTooLong } from './passwords.js'

export interface PasswordPolicy {
  /** Code points of the normal form. */
  minLength: number
}

/** A shorter part of an address occurs in unrelated passwords, too. */
const shortestLocalPart = 4
const shortestDomainLabel = 5

/**
 * Why this password is refused for that address, in the order of `PasswordFault`. The caller checks `breached` last, and only
 * if there is no other fault. No rule demands kinds of characters (OWASP ASVS 5.0, 6.2.5).
 *
 * The checks read a folded copy; the password itself is hashed. The result never names the word that made it fail.
 *
 * @example await passwordFaults('Password2024', 'alice@example.com', { minLength: 10 }) // ['common']
 */
export async function passwordFaults(
  password: string,
  canonicalEmail: string,
  policy: PasswordPolicy,
): Promise<PasswordFault[]> {
  if (isTooLong(password)) return ['too_long'] // do not spend time on reading it

  const faults: PasswordFault[] = []
  const folded = password.normalize('NFKC').toLowerCase()
  if (codePoints(password.normalize('NFC')) < policy.minLength) faults.push('too_short')
  if (isMonotonous(folded) || (await isCommon(folded))) faults.push('common')
  if (isLikeEmail(folded, canonicalEmail)) faults.push('similar_to_email')
  return faults
}

/**
 * A listed password, also with up to four digits or signs after it: `sunshine` is too short for most settings, so people
 * choose `sunshine1!`. Without this rule, few entries would be long enough to matter (OWASP ASVS 5.0, 6.2.4).
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

/** One repeated character, or a run like `abcdefghij`. No list holds the longer ones. */
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
