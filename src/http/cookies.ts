/** Our cookies by short name. */
export type CookieName = 'access' | 'refresh' | 'registration'

/** Our cookies on one request: a value, or null when absent or sent more than once with different values. */
export type CookieJar = Readonly<Record<CookieName, string | null>>
