/**
 * Whether a method only reads (RFC 9110 §9.2.1). Any other method, and the same in another case, counts as a write. Compared
 * one by one, which is faster than a set; every request runs this.
 */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
