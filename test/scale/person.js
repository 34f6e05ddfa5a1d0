// One person: an account, a browser that is signed in (or not), and what the person may expect of both.
import { randomBytes } from 'node:crypto'
import { createJar } from './jar.js'

export function createPerson(name) {
  return {
    email: `${name}@example.test`,
    ip: `10.${[...randomBytes(3)].join('.')}`,
    /** The password; several where an answer is missing that would say which. */
    passwords: [newPassword()],
    userId: null,
    /** The account was promised by a 2xx. */
    verified: false,
    disabled: false,
    /** The disabling was answered. */
    disabledForSure: false,
    jar: createJar(),
    /** The browser holds a session that nobody has ended. */
    signedIn: false,
    /** The browser as it was before its last refreshes: older access tokens of the same session. */
    former: [],
  }
}

export function newPassword() {
  return `tide-${randomBytes(9).toString('base64url')}`
}

/** The answer is missing, or says that it is not known what became of the request. */
export function isUncertain({ status }) {
  return status === 0 || status >= 500
}

/** The session is not to be relied on any more; nothing is known about its end. */
export function forgetSession(person) {
  person.signedIn = false
  person.former = []
  person.jar.signOut()
}

export function createSessions({ ask, oracle, revoked }) {
  /** The browser's session has ended, and `answer` said so. */
  function ended(person, why, answer, jar = person.jar.copy()) {
    if (person.signedIn) endedJars([...person.former, jar], person, why, answer)
    forgetSession(person)
  }

  function endedJars(jars, person, why, answer) {
    for (const jar of jars) revoked.add(() => ({ jar: jar.copy(), ip: person.ip }), why, answer)
    const last = jars.at(-1)
    revoked.add(() => refreshWish(last.copy(), person), `${why}, refresh`, answer)
  }

  /** In several tabs at once; one of them may be closed before its answer comes. */
  async function refresh(person, { tabs = 1, hangUp = false } = {}) {
    const before = person.jar.copy()
    const held = before.get('refresh-token')
    if (hangUp) await ask('refresh', { ...refreshWish(before.copy(), person), hangUp })
    const wishes = Array.from({ length: tabs }, () => refreshWish(person.jar, person))
    const answers = await Promise.all(wishes.map((wish) => ask('refresh', wish)))
    const successors = new Set(answers.flatMap(({ setCookies }) => refreshTokenOf(setCookies)))
    successors.delete(held)
    if (successors.size > 1) oracle.broken('double uses', `refresh: ${successors.size} successors of one token`)
    if (answers.some(({ status }) => status === 200)) person.former = [...person.former.slice(-2), before]
    const refused = answers.find(({ status }) => status === 401 || status === 403)
    if (refused) lost(person, `refresh: ${refused.code}`)
    return answers.some(({ status }) => status === 200)
  }

  function lost(person, what) {
    if (person.signedIn) oracle.broken('lost sessions', `${what} (${person.email})`)
    forgetSession(person)
  }

  /** A request of somebody signed in, refreshed once if the access token is too old. Null when no answer is to be had. */
  async function signedInAsk(operation, person, wish) {
    for (let tries = 0; tries < 2 && person.signedIn; tries += 1) {
      const answer = await ask(operation, { jar: person.jar, ip: person.ip, ...wish })
      if (answer.status !== 401 || answer.code === 'invalid_credentials') return answer
      if (answer.code !== 'token_expired' && answer.code !== 'unauthenticated') {
        lost(person, `${operation}: ${answer.code}`)
        return null
      }
      if (!(await refresh(person))) return null
    }
    return null
  }

  async function guarded(person) {
    const answer = await signedInAsk('guarded', person, { method: 'GET', path: '/api/me' })
    if (answer?.status === 200 && answer.body.userId !== person.userId) {
      oracle.broken('accepted revoked credentials', `guarded: ${person.email} is taken for somebody else`)
    }
    return answer
  }

  /** With each password that it may be; true when signed in, null when nobody can tell. */
  async function signIn(person) {
    person.jar.signOut()
    for (const password of person.passwords) {
      const body = { email: person.email, password }
      const answer = await ask('login', { path: '/auth/login', body, jar: person.jar, ip: person.ip })
      if (answer.status === 200) return begin(person, answer, [password])
      if (isUncertain(answer) || answer.status === 429) return null
      if (answer.status === 403 && answer.code !== 'invalid_credentials') return refusedSignIn(person, answer)
    }
    return refusedSignIn(person, { code: 'invalid_credentials' })
  }

  function refusedSignIn(person, { code }) {
    if (person.disabled || !person.verified) return false
    oracle.broken('lost accounts', `login: ${code} (${person.email})`)
    return false
  }

  function begin(person, answer, passwords) {
    // Where the answer was lost, nobody knows whether it happened.
    if (person.disabledForSure) oracle.broken('accepted revoked credentials', `login: ${person.email} is disabled`)
    Object.assign(person, { userId: answer.body.user.id, verified: true, signedIn: true, former: [], passwords })
    return true
  }

  return { ended, endedJars, refresh, signedInAsk, guarded, signIn, begin, lost }
}

function refreshWish(jar, { ip }) {
  return { method: 'POST', path: '/auth/refresh', jar, ip }
}

function refreshTokenOf(setCookies) {
  return setCookies.flatMap((line) => /refresh-token=([^;]+)/.exec(line)?.slice(1) ?? [])
}
