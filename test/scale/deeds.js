// What people do. Each deed is one person's alone, so that its outcome is known; only what is meant to race races.
import { createJar } from './jar.js'
import { createSessions, forgetSession, isUncertain, newPassword } from './person.js'

/** How long a person waits for a mail before going on with something else. */
const mailPatienceMs = 8_000

export function createDeeds({ ask, oracle, mails, revoked, used, instances }) {
  const sessions = createSessions({ ask, oracle, revoked })
  const { ended, endedJars, refresh, signedInAsk, guarded, signIn, begin } = sessions

  async function register(person) {
    const coming = mails.next(person.email, 'verify', mailPatienceMs)
    const body = { email: person.email, password: person.passwords[0] }
    const answer = await ask('register', { path: '/auth/register', body, jar: person.jar, ip: person.ip })
    if (answer.status === 202) mails.promise(person.email, 'verify')
    else if (!isUncertain(answer)) oracle.odd(`register: ${answer.status} ${answer.code}`)
    const mail = await coming
    if (mail) await confirm(person, mail)
  }

  /** The link is pressed in several tabs at once; the password goes along, so that any browser will do. */
  async function confirm(person, { token }) {
    const jar = person.jar.copy()
    const body = { token, password: person.passwords[0] }
    const wishOf = () => ({ path: '/auth/verify-email', body, jar: jar.copy(), ip: person.ip })
    const { won, uncertain } = await used.race('verify', wishOf)
    if (!won) return uncertain ? undefined : oracle.odd('verify: no tab could use the token')
    person.jar = won.wish.jar
    begin(person, won.answer, person.passwords)
  }

  /** Whoever is not yet in: by the mail that came late, or by the account that an unheard answer made. */
  async function comeIn(person) {
    if (person.verified) return signIn(person)
    const mail = mails.newest(person.email, 'verify')
    if (mail && mail !== person.triedMail) {
      person.triedMail = mail
      await confirm(person, mail)
    } else if (!(await signIn(person)) && !person.verified) await register(person)
  }

  async function look(person) {
    await guarded(person)
    await Promise.all([guarded(person), guarded(person)])
  }

  async function logout(person) {
    const before = person.jar.copy()
    const answer = await ask('logout', { path: '/auth/logout', jar: person.jar, ip: person.ip })
    if (answer.status === 204) ended(person, 'logout', answer, before)
    else forgetSession(person)
  }

  async function reset(person) {
    const coming = mails.next(person.email, 'reset', mailPatienceMs)
    const forgot = await ask('forgot', { path: '/auth/password/forgot', body: { email: person.email }, ip: person.ip })
    if (forgot.status === 202) mails.promise(person.email, 'reset')
    const mail = await coming
    if (!mail) return
    const passwords = [newPassword(), newPassword(), newPassword()]
    const wishOf = (index) => {
      return { path: '/auth/password/reset', body: { token: mail.token, password: passwords[index] }, ip: person.ip }
    }
    const { won, uncertain } = await used.race('reset', wishOf)
    if (won) {
      mails.promise(person.email, 'changed')
      ended(person, 'reset', won.answer)
      person.passwords = [won.wish.body.password]
    } else if (uncertain) {
      forgetSession(person)
      person.passwords = [...person.passwords, ...passwords]
    } else oracle.odd('reset: no tab could use the token')
  }

  async function changePassword(person) {
    const before = [...person.former, person.jar.copy()]
    const [currentPassword] = person.passwords
    const password = newPassword()
    const body = { currentPassword, newPassword: password }
    const answer = await signedInAsk('change', person, { path: '/auth/password/change', body })
    if (answer?.status === 200) {
      mails.promise(person.email, 'changed')
      endedJars(before, person, 'password change', answer)
      begin(person, answer, [password])
    } else if (answer === null || isUncertain(answer)) {
      forgetSession(person)
      person.passwords = [...person.passwords, password]
    } else oracle.odd(`change: ${answer.status} ${answer.code}`)
  }

  /** A second device comes in by a mailed code, and the first one sends it away. */
  async function otp(person) {
    const jar = createJar()
    const coming = mails.next(person.email, 'otp', mailPatienceMs)
    const asked = await ask('otp', { path: '/auth/otp', body: { email: person.email }, jar, ip: person.ip })
    if (asked.status === 202) mails.promise(person.email, 'otp')
    const mail = await coming
    if (asked.status !== 202 || !mail) return
    const body = Math.random() < 0.5 ? { email: person.email, code: mail.code } : { token: mail.token }
    const wishOf = () => ({ path: '/auth/otp/verify', body, jar: jar.copy(), ip: person.ip })
    const { won, uncertain } = await used.race('otp verify', wishOf)
    if (!won) return uncertain ? undefined : oracle.odd('otp: no tab could use the code')
    const device = { ...person, jar: won.wish.jar, signedIn: true, former: [] }
    await guarded(device)
    if (device.signedIn) await sendAway(person, device, won.answer.body.session.id)
  }

  async function sendAway(person, device, sessionId) {
    const wish = { method: 'DELETE', path: `/auth/sessions/${sessionId}` }
    const answer = await signedInAsk('revoke', person, wish)
    if (answer?.status === 204) ended(device, 'session revoked', answer)
    else if (answer && !isUncertain(answer)) oracle.odd(`revoke: ${answer.status} ${answer.code}`)
  }

  /** A program without cookies. */
  async function bearer(person) {
    const body = { email: person.email, password: person.passwords[0] }
    const plain = { tokenMode: true, ip: person.ip }
    const entered = await ask('login', { path: '/auth/login', body, ...plain })
    if (entered.status !== 200) return
    let { accessToken, refreshToken } = entered.body
    for (let round = 0; round < 2; round += 1) {
      const seen = await ask('guarded bearer', { method: 'GET', path: '/api/me', bearer: accessToken, ip: person.ip })
      if (seen.status === 401 && seen.code !== 'token_expired') oracle.broken('lost sessions', `bearer: ${seen.code}`)
      const fresh = await ask('refresh', { path: '/auth/refresh', body: { refreshToken }, ...plain })
      if (fresh.status === 401) oracle.broken('lost sessions', `refresh of a bearer: ${fresh.code}`)
      if (fresh.status === 200 && fresh.body.accessToken) ({ accessToken, refreshToken } = fresh.body)
    }
    const left = await ask('logout', { path: '/auth/logout', body: { refreshToken }, ...plain })
    if (left.status !== 204) return
    revoked.add(() => ({ bearer: accessToken, ip: person.ip }), 'logout of a bearer', left)
    const again = { method: 'POST', path: '/auth/refresh', body: { refreshToken }, ...plain }
    revoked.add(() => again, 'logout of a bearer, refresh', left)
  }

  async function apiToken(person) {
    const made = await ask('make API token', { path: '/control/api-token', body: {} })
    if (made.status !== 200) return
    const { id, token } = made.body
    const wish = { method: 'GET', path: '/api/me', apiKey: token, ip: person.ip }
    for (const instance of [...instances, ...instances]) {
      const { status, code, body } = await ask('guarded API token', { ...wish, instance })
      if (status === 401) oracle.broken('lost sessions', `API token: ${code}`)
      if (status === 200 && body.tokenId !== id) oracle.broken('accepted revoked credentials', 'API token of another')
    }
    const removed = await ask('remove API token', { path: '/control/remove-api-token', body: { id } })
    if (removed.status === 200) revoked.add(() => ({ ...wish, instance: undefined }), 'API token removed', removed)
  }

  async function disable(person) {
    const answer = await ask('disable', { path: '/control/disable', body: { userId: person.userId } })
    person.disabled = true
    if (answer.status === 200) ended(person, 'disabled', answer)
    else forgetSession(person)
    person.disabledForSure = answer.status === 200
  }

  const deeds = [
    [40, look],
    [12, (person) => refresh(person, { tabs: 3 })],
    [5, (person) => refresh(person, { tabs: 2, hangUp: true })],
    [4, logout],
    [4, reset],
    [4, otp],
    [3, bearer],
    [3, apiToken],
    [2, changePassword],
    [0.7, disable],
  ]
  const weight = deeds.reduce((sum, [each]) => sum + each, 0)

  function drawn() {
    let lot = Math.random() * weight
    for (const [each, deed] of deeds) {
      lot -= each
      if (lot < 0) return deed
    }
    return look
  }

  return {
    ...sessions,
    register,
    comeIn,
    /** One deed, chosen by chance; first of all one comes in. */
    async live(person) {
      if (!person.signedIn) return comeIn(person)
      await drawn()(person)
    },
  }
}
