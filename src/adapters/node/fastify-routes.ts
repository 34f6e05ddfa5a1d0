import { hasMethods } from '../../lib/members.js'

/** One line of the tree that Fastify prints: how deep it stands, and its path below the line above. */
const treeLine = /^((?:│ {3}| {4})*)[├└]── (.+?) \([A-Z, -]+\)/u

/** The paths of all routes, from the tree that `printRoutes` prints: Fastify has no other list. */
export function fastifyRoutes(app: unknown): string[] | null {
  if (!hasPrintRoutes(app)) return null
  const paths: string[] = []
  const above: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, path] = treeLine.exec(line) ?? []
    if (indent === undefined || path === undefined) continue
    const depth = indent.length / 4
    above.splice(depth)
    above.push(`${above[depth - 1] ?? ''}${path}`)
    paths.push(above[depth] ?? path)
  }
  return paths
}

function hasPrintRoutes(app: unknown): app is { printRoutes(options: { commonPrefix: boolean }): string } {
  return hasMethods(app, ['printRoutes'])
}
