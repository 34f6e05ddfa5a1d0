/**
 * The same text with characters of its own. V8 cuts a text out of another by pointing into it, so what is remembered of a
 * long one would keep all of it alive.
 *
 * @param text of one byte a character, as a token is that was found sound
 */
export function copiedText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
