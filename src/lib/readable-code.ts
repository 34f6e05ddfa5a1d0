/**
 * Thirty-two digits and letters that are not mistaken for each other when read or heard: Crockford's base32
 * (https://www.crockford.com/base32.html). 5 bits each.
 */
export const readableAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Characters that people type instead of one in the alphabet. */
const lookAlikes: Readonly<Record<string, string>> = { o: '0', i: '1', l: '1' }

/**
 * The canonical spelling of a typed code: lower case, without blanks and dashes, look-alikes replaced.
 *
 * @example canonicalCode(' 7QXK0-mb4 rI ') // '7qxk0mb4r1'
 */
export function canonicalCode(typed: string): string {
  return withoutGaps(typed.toLowerCase()).replaceAll(/[oil]/g, (letter) => lookAlikes[letter] ?? letter)
}

/**
 * A code without the blanks and dashes that people type or copy along.
 *
 * @example withoutGaps('081-424 ') // '081424'
 */
export function withoutGaps(typed: string): string {
  return typed.replaceAll(/[\s\p{Pd}]/gu, '')
}
