/** Second labels below a country that anybody registers below, such as `co` in `example.co.uk`. */
const countrySeconds = new Set(['ac', 'co', 'com', 'edu', 'gov', 'gob', 'govt', 'ne', 'net', 'or', 'org'])

/** Countries in which such a label can be the domain of one owner, such as `ne.ch` of a canton. */
const withoutSeconds = new Set(['be', 'ch', 'cz', 'de', 'dk', 'eu', 'fi', 'li', 'lu', 'nl'])

/** Domains whose owners let anybody have a host below them. */
const hosting = new Set([
  'azurewebsites.net',
  'cloudfront.net',
  'deno.dev',
  'firebaseapp.com',
  'fly.dev',
  'github.io',
  'gitlab.io',
  'herokuapp.com',
  'netlify.app',
  'ngrok-free.app',
  'onrender.com',
  'pages.dev',
  'vercel.app',
  'web.app',
  'workers.dev',
])

/**
 * Whether hosts below that domain belong to different owners. It knows the common domains only: the whole list has 10,000 entries and
 * changes every week, and browsers check it themselves.
 *
 * @example isPublicSuffix('co.uk') // true
 */
export function isPublicSuffix(domain: string): boolean {
  const labels = domain.split('.')
  const [second = '', top = ''] = labels
  if (labels.length === 1) return true
  if (labels.length > 2) return false
  return hosting.has(domain) || (top.length === 2 && countrySeconds.has(second) && !withoutSeconds.has(top))
}

/**
 * The domain that the owner of a host has registered, as far as the common public suffixes tell. An IP address stays as it is.
 *
 * @example registrableDomain('www.example.co.uk') // 'example.co.uk'
 */
export function registrableDomain(hostname: string): string {
  if (/^[\d.]+$|:/.test(hostname)) return hostname
  const labels = hostname.toLowerCase().replace(/\.$/, '').split('.')
  const twoLast = labels.slice(-2).join('.')
  return isPublicSuffix(twoLast) ? labels.slice(-3).join('.') : twoLast
}
