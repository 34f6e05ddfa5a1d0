import type { Route, RouteContext, SpacePorts } from '../http/route.js'
import { controlPath, spacePath } from '../model/control-path.js'
import { changeSpaceJwksRoute } from '../routes/admin/access.js'
import { controlReferenceRoute } from '../routes/admin/reference.js'
import { routes } from '../routes/index.js'

/** Finds a space by its name. @throws {AuthError} `space_not_found` */
export type FindSpace = (name: string) => Promise<SpacePorts>

/**
 * The route table of the host: that of an application without what concerns one application, with API tokens and access
 * settings below `/spaces/:space`, and with the host's own routes, which replace those of the same path.
 */
export function hostRoutes(own: readonly Route[], findSpace: FindSpace): readonly Route[] {
  const reference = `${controlPath}/openapi.json`
  const replaced = new Set([reference, ...own.map(({ path }) => path)])
  const shared = routes.filter(({ control, path }) => control?.home !== 'application' && !replaced.has(path))
  const table: readonly Route[] = [...shared, changeSpaceJwksRoute, ...own].map((route) => mounted(route, findSpace))
  return [...table, controlReferenceRoute(() => table.filter(({ control }) => control && !control.page))]
}

function mounted(route: Route, findSpace: FindSpace): Route {
  if (route.control?.home !== 'space') return route
  const onPages = (path: string) => path.replace('/admin', `/admin${spacePath}`)
  const inControl = (path: string) => `${controlPath}${spacePath}${path.slice(controlPath.length)}`
  const below = route.control.page ? onPages : inControl
  const { page, aliases, ...rest } = route
  return {
    ...rest,
    path: below(route.path),
    ...(aliases && { aliases: aliases.map(below) }),
    ...(page !== undefined && { page: onPages(page) }),
    handle: (context: RouteContext, body) =>
      route.handle({ ...context, space: () => findSpace(context.params.space ?? '') }, body),
  }
}
