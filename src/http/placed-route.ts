import type { Settings } from '../settings.js'
import type { Route } from './route.js'

/** Where the tables declare the admin pages, below `basePath`. */
const declared = '/admin'

/** Where the admin pages are, below `basePath`; null: there are no admin pages. */
export function adminPagePath({ admin, basePath }: Pick<Settings, 'admin' | 'basePath'>): string | null {
  return admin.enabled && admin.page !== null ? admin.page.slice(basePath.length) : null
}

/** The route where the setting `admin.page` places it: admin pages, and the forms that return to them. */
export function placed(route: Route, settings: Pick<Settings, 'admin' | 'basePath'>): Route {
  if (!route.control) return route
  const place = adminPagePath(settings)
  const moved = (path: string) => `${place}${path.slice(declared.length)}`
  const { page, aliases, ...rest } = route
  const form = page === undefined || place === null ? {} : { page: moved(page) }
  if (!route.control.page) return { ...rest, ...(aliases && { aliases }), ...form }
  return { ...rest, path: moved(route.path), ...(aliases && { aliases: aliases.map(moved) }) }
}
