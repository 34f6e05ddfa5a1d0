/** Settings of `init` that the host gives its own accounts, and what to do instead. */
const own = {
  baseUrl: 'is the setting adminUrl of the host',
  basePath: 'is /auth in the host',
  baseAPIRoutes: 'has no use in the host',
  publicRoutes: 'has no use in the host',
  database: 'is the setting database of the host',
  redis: 'has no use in the host',
  mail: 'is the setting mail of the host',
  trustedProxies: 'is the setting trustedProxies of the host',
  apiTokens: 'has no use in the host: API tokens belong to spaces',
  jwks: 'has no use in the host: key sets belong to spaces',
  authenticate: 'has no use in the host',
} as const satisfies Readonly<Record<string, string>>

/** A setting of `init` that `auth` must not name. */
export type OwnAccountSetting = keyof typeof own

/** A sentence for each setting of `auth` that is the host's to give. */
export function accountFaults(auth: Readonly<Record<string, unknown>>): { setting: string; message: string }[] {
  const faults = Object.entries(own).flatMap(([name, message]) =>
    auth[name] === undefined ? [] : [{ setting: `auth.${name}`, message }],
  )
  const { cookies } = auth
  const isNamed = typeof cookies === 'object' && cookies !== null && 'suffix' in cookies && cookies.suffix !== undefined
  return isNamed ? [...faults, { setting: 'auth.cookies.suffix', message: 'is host in the host' }] : faults
}
