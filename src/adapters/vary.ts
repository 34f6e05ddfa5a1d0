import { trimBlanks } from '../lib/http-blanks.js'

/** Whether a `Vary` header names that header already. It is a list that every layer may extend (RFC 9110 §12.5.5). */
export function variesBy(vary: string | null, name: string): boolean {
  return vary?.split(',').some((one) => trimBlanks(one).toLowerCase() === name.toLowerCase()) ?? false
}
