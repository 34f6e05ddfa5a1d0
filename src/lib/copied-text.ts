/**
 * The same text with characters of its own. V8 cuts a text out of another by pointing into it, so what is remembered of a
 * long one would keep all of it alive.
 *
 * @param text of one byte a character, as a token is that was found sound
 */
export function copiedText(text: string): string {
  if (text.length > space.length) return Buffer.from(text, 'latin1').toString('latin1')
  return space.toString('latin1', 0, space.write(text, 0, 'latin1'))
}

/** Where it is laid out on the way: a buffer for each text would take longer to come by than to fill. */
const space = Buffer.alloc(4096)
