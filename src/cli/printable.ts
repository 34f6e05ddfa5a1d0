/** Controls, invisible format characters, separators and lone surrogates. Joiners stay: some scripts and emoji need them. */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * A text that no terminal obeys: what could move the cursor, colour or reorder is written as its code (ASVS 5.0, 16.4.1).
 *
 * @example printable('\u001b[31mred') // '\\x1b[31mred'
 */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`
  })
}

/** JSON with every unprintable character escaped. `JSON.stringify` leaves C1 controls and format characters as they are. */
export function printableJson(value: unknown, indent?: number): string {
  return printableText(JSON.stringify(value, null, indent))
}

/** The same for a text that is JSON already, or CSV. */
export function printableText(text: string): string {
  return text.replace(unprintable, (character) => (character === '\n' ? character : escaped(character)))
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
