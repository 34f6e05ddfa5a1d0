/** Longest password, in code points of its normal form. None is cut (OWASP ASVS 5.0, 6.2.8 and 6.2.9). */
export const longestPassword = 256

/**
 * The one form in which a password is counted and hashed (NIST SP 800-63B-4 §3.1.1.2: NFC), or null if it has no such
 * form: a lone surrogate has no UTF-8, so that all of them would be one password.
 */
export function normalForm(password: string): string | null {
  return /\p{Surrogate}/u.test(password) ? null : password.normalize('NFC')
}

/** Code points, so that an emoji counts once, whatever its encoding. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** True without normalising anything big: no NFC code point stands for more than 4 of its decomposition, 8 UTF-16 units. */
export function isTooLong(password: string): boolean {
  return password.length > longestPassword * 8 || codePoints(password.normalize('NFC')) > longestPassword
}
