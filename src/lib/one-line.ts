/**
 * The text on one line: controls, line separators and invisible format characters (which can reorder what is shown)
 * become single spaces, ends trimmed. For everything that reaches a header, a subject or a console
 * (OWASP ASVS 5.0, 1.3.11 and 16.4.1). Joiners stay: some scripts and emoji need them.
 *
 * @example oneLine('Alice\r\nBcc: x') // 'Alice Bcc: x'
 */
export function oneLine(text: string): string {
  return text.replace(/(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s])+/gu, ' ').trim()
}
