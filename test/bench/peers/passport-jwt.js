// passport with passport-jwt, without sessions.
import passport from 'passport'
import { ExtractJwt, Strategy } from 'passport-jwt'
import { frameworks } from './frameworks.js'
import { credentials, secret } from './own-token.js'

export async function start() {
  const { create, route } = frameworks.express
  const app = create()
  const options = {
    secretOrKey: secret,
    algorithms: ['HS256'],
    jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
  }
  passport.use(new Strategy(options, (claims, done) => done(null, claims)))
  app.use('/api', passport.authenticate('jwt', { session: false }))
  route(app)
  return { app, credentials: { bearer: credentials.bearer } }
}
