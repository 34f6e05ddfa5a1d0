// better-auth without its cookie cache: it reads the session from the database in every request, so a revocation counts at once.
import { start as startBetterAuth } from './better-auth.js'

export { signIn } from './better-auth.js'

export const start = (given) => startBetterAuth(given, { cookieCache: false })
