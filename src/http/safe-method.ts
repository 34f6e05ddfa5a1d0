/**
 * Whether a method only reads (RFC 9110 §9.2.1). Any other, and the same in another case, counts as a write. Compared one by
 * one: asking a set takes longer, and every request is asked about.
 */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
