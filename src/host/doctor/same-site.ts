/** Second labels below a country that anybody registers below, such as `co` in `example.co.uk`. */
const shared = ['ac', 'co', 'com', 'edu', 'gov', 'gob', 'govt', 'ne', 'net', 'or', 'org']

/**
 * Whether two host names seem to be below one registrable domain. A guess without the public suffix list, for a warning only.
 *
 * @example isSameSite('api.example.org', 'admin.example.org') // true
 */
export function isSameSite(one: string, other: string): boolean {
  return registrable(one) === registrable(other)
}

function registrable(hostname: string): string {
  if (/^[\d.]+$|:/.test(hostname)) return hostname
  const labels = hostname.toLowerCase().replace(/\.$/, '').split('.')
  const [second = '', top = ''] = labels.slice(-2)
  return labels.slice(top.length === 2 && shared.includes(second) ? -3 : -2).join('.')
}
