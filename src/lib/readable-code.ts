/**
 * Thirty-two digits and letters, none of which is taken for another when it is read or heard: Crockford's base32
 * (https://www.crockford.com/base32.html). 5 bits each.
 */
export const readableAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** What people write in place of a character that is not in the alphabet. */
const lookAlikes: Readonly<Record<string, string>> = { o: '0', i: '1', l: '1' }

/**
 * The one spelling of a code that a person has typed: lower case, without blanks and dashes, look-alikes put right.
 *
 * @example canonicalCode(' 7QXK0-mb4 rI ') // '7qxk0mb4r1'
 */
export function canonicalCode(typed: string): string {
  return typed
    .toLowerCase()
    .replaceAll(/[\s\p{Pd}]/gu, '')
    .replaceAll(/[oil]/g, (letter) => lookAlikes[letter] ?? letter)
}
