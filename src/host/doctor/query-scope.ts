/**
 * Whether the application's own code writes a field of the query, as in `req.query.userId = user.id`. crudlify takes its filter
 * from there, but a client switches such fields off by `q={}`. To write `q` itself is the right way.
 *
 * Packages are left out: esbuild writes `// <path>` above each module, and no other comments.
 *
 * @param bundle the code of a release
 */
export function writesQueryField(bundle: string): boolean {
  const writing = /\breq\w*\.query(?:\.(?!q\b)[\w$]+|\[(?!["'`]q["'`])[^\]\n]{1,80}\])\s*=(?![=>])/g
  for (const { index } of bundle.matchAll(writing)) {
    const comment = bundle.lastIndexOf('\n// ', index)
    const path = bundle.slice(comment + 1, bundle.indexOf('\n', comment + 1))
    if (!path.includes('node_modules/')) return true
  }
  return false
}
