interface Target {
  path: string
  query: string
}

/**
 * Path and query of an absolute URL as they stand there. Without an authority there is no path to judge by; '' is nobody's
 * public route. Every request of a router of the Fetch world comes this way: a regular expression takes three times as long.
 */
export function targetOf(absolute: string): Target {
  const colon = absolute.indexOf(':')
  if (colon < 1 || !absolute.startsWith('://', colon)) return { path: '', query: '' }
  let start = colon + 3
  while (start < absolute.length && !endsAuthority(absolute.charCodeAt(start))) start += 1
  const hash = absolute.indexOf('#', start)
  const end = hash === -1 ? absolute.length : hash
  const mark = absolute.indexOf('?', start)
  if (mark === -1 || mark > end) return { path: absolute.slice(start, end) || '/', query: '' }
  return { path: absolute.slice(start, mark) || '/', query: absolute.slice(mark + 1, end) }
}

/** `/`, `\`, `?` or `#` */
function endsAuthority(code: number): boolean {
  return code === 47 || code === 92 || code === 63 || code === 35
}

/**
 * The same of a URL as requests have it, quicker where a router has told what it took for the path: mostly just what stands
 * behind the host. So that is compared, and nothing looked for. A `#` in it stays: such a path the guard opens to nobody.
 */
export function targetAsRouted(absolute: string, routed: string): Target {
  // Behind `http://` and a host, which has one character at least.
  const start = absolute.indexOf('/', 8)
  const end = start + routed.length
  // Cut out and compared, which takes a third of what `startsWith` does.
  if (start === -1 || absolute.slice(start, end) !== routed || routed.includes('?')) return targetOf(absolute)
  if (end === absolute.length) return { path: routed, query: '' }
  if (absolute[end] !== '?' || absolute.includes('#', end)) return targetOf(absolute)
  return { path: routed, query: absolute.slice(end + 1) }
}

/**
 * Whether an address that is put together as `http://${host}${url}`, as many do, has a host of its own that ends within this
 * one, so that its path begins there. Such a request has no path that could be judged, and is open to nobody.
 */
export function endsInHost(host: string | undefined): boolean {
  return host !== undefined && /[/\\?#@]/.test(host)
}

/**
 * Routers take `http://any.host/api` for `/api`, as RFC 9112 §3.2.2 demands, so the guard must as well. What has no host is
 * left as it is, and with it open to nobody: `URL` takes `http:///x/api` for `/api`. Of a `?` in the place of the path, some
 * take what begins at a slash behind it (find-my-way of Fastify, before 9.9), or the `?` for one.
 */
export function originForm(url: string): string {
  if (url.startsWith('/') || url.startsWith('?')) return url
  const below = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/\\?#%]+/i, '')
  return /^(?:\?[^/]*)?$/.test(below) ? `/${below}` : below
}
