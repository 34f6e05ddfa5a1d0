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
  return withoutGaps(typed.toLowerCase()).replaceAll(/[oil]/g, (letter) => lookAlikes[letter] ?? letter)
}

/**
 * A code without the blanks and dashes that people, and what they copy from, put in.
 *
 * @example withoutGaps('081-424 ') // '081424'
 */
export function withoutGaps(typed: string): string {
  return typed.replaceAll(/[\s\p{Pd}]/gu, '')
}
