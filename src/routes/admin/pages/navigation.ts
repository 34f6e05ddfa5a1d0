/** The pages in the navigation, by path below `/admin` and name. Labels are `admin.nav.<name>`. */
export const adminNavigation = [
  ['', 'overview'],
  ['/users', 'users'],
  ['/sessions', 'sessions'],
  ['/tokens', 'tokens'],
  ['/jwks', 'jwks'],
  ['/access', 'access'],
  ['/audit', 'audit'],
  ['/mail', 'mail'],
  ['/templates', 'templates'],
  ['/settings', 'settings'],
  ['/doctor', 'doctor'],
  ['/device', 'device'],
] as const

export type AdminSection = (typeof adminNavigation)[number][1]
