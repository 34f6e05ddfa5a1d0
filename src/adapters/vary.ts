/** Whether a `Vary` header names that header already. It is a list that every layer may extend (RFC 9110 §12.5.5). */
export function variesBy(vary: string | null, name: string): boolean {
  return vary?.split(',').some((one) => one.trim().toLowerCase() === name.toLowerCase()) ?? false
}
