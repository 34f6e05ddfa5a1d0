import type { HomeName } from '../../../model/home.js'
import type { Right } from '../../../model/right.js'

/** The pages in the navigation: path below `/admin`, name, where they are, who sees them. Labels are `admin.nav.<name>`. */
const pages = [
  ['', 'overview', 'both', 'ADMIN'],
  ['/spaces', 'spaces', 'host', 'MEMBER'],
  ['/project', 'project', 'host', 'ADMIN'],
  ['/admin-tokens', 'adminTokens', 'host', 'ADMIN'],
  ['/users', 'users', 'both', 'ADMIN'],
  ['/sessions', 'sessions', 'both', 'ADMIN'],
  ['/tokens', 'tokens', 'application', 'ADMIN'],
  ['/jwks', 'jwks', 'application', 'ADMIN'],
  ['/access', 'access', 'application', 'ADMIN'],
  ['/audit', 'audit', 'both', 'ADMIN'],
  ['/mail', 'mail', 'both', 'ADMIN'],
  ['/templates', 'templates', 'both', 'ADMIN'],
  ['/settings', 'settings', 'both', 'ADMIN'],
  ['/doctor', 'doctor', 'both', 'ADMIN'],
  ['/device', 'device', 'both', 'MEMBER'],
] as const

/** The pages of a space of the host, below `/admin/spaces/:space`. */
const pagesOfSpace = [
  ['', 'space', 'MEMBER'],
  ['/releases', 'releases', 'MEMBER'],
  ['/env', 'env', 'ADMIN'],
  ['/logs', 'logs', 'ADMIN'],
  ['/data', 'collections', 'ADMIN'],
  ['/backup', 'backups', 'ADMIN'],
  ['/tokens', 'tokens', 'ADMIN'],
  ['/jwks', 'jwks', 'MEMBER'],
  ['/access', 'access', 'MEMBER'],
] as const

export type AdminSection = (typeof pages)[number][1] | (typeof pagesOfSpace)[number][1]
type Entry = readonly [path: string, name: AdminSection]

export function navigationOf(home: HomeName, right: Right): readonly Entry[] {
  const shown = pages.filter(([, , where, who]) => (where === 'both' || where === home) && isFor(who, right))
  return shown.map(([path, name]) => [path, name])
}

export function spaceNavigation(right: Right): readonly Entry[] {
  return pagesOfSpace.filter(([, , who]) => isFor(who, right)).map(([path, name]) => [path, name])
}

function isFor(who: Right, right: Right): boolean {
  return who === 'MEMBER' || right === 'ADMIN'
}

/** As `admin/layout.hbs` shows them. */
export function linksIn(entries: readonly Entry[], { below, at }: { below: string; at: AdminSection }) {
  return entries.map(([path, name]) => ({
    href: `${below}${path}`,
    text: `admin.nav.${name}`,
    current: name === at,
  }))
}
