/** The Cookie header that a browser would send to that path after this answer. */
export function cookiesOf(response, path) {
  return response.headers
    .getSetCookie()
    .filter((line) => reaches(/; *path=([^;]*)/i.exec(line)?.[1] ?? '/', path))
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** RFC 6265 §5.1.4 */
function reaches(cookiePath, path) {
  return path === cookiePath || path.startsWith(cookiePath.replace(/\/?$/, '/'))
}
