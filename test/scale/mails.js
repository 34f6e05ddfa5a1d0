// What was promised by mail, and what arrived.

/** What a mail is, by its subject. */
const kinds = [
  ['verify', /^Confirm your email address/],
  ['otp', /^Your code to sign in/],
  ['reset', /^Choose a new password/],
  ['changed', /^Your password was changed/],
]
/** A lease and a look at the outbox: how long after a fault a mail may come a second time. */
const echoMs = 120_000

export function createMails() {
  const promised = []
  const arrived = []
  const waiting = new Set()

  return {
    /** A 2xx has said that this mail will come. */
    promise: (to, kind) => void promised.push({ to, kind, at: Date.now() }),

    take(mail) {
      const [kind = 'other'] = kinds.find(([, subject]) => subject.test(mail.subject)) ?? []
      const known = { ...mail, kind }
      arrived.push(known)
      for (const wait of waiting) if (wait.to === mail.to && wait.kind === kind) wait.found(known)
    },

    /** The next mail of that kind from now on, or null when it does not come in time. */
    next(to, kind, patienceMs) {
      return new Promise((resolve) => {
        const wait = { to, kind, found: finish }
        const timer = setTimeout(() => finish(null), patienceMs)
        waiting.add(wait)
        function finish(mail) {
          clearTimeout(timer)
          waiting.delete(wait)
          resolve(mail)
        }
      })
    },

    newest: (to, kind) => arrived.findLast((mail) => mail.to === to && mail.kind === kind) ?? null,

    /** Promises without a mail. One that is poison for the mail server can never come. */
    missing() {
      const come = new Map()
      for (const id of new Set(arrived.map(({ to, kind, messageId }) => `${to} ${kind} ${messageId}`))) {
        const key = id.split(' ', 2).join(' ')
        come.set(key, (come.get(key) ?? 0) + 1)
      }
      return promised.filter(({ to, kind }) => {
        if (to.startsWith('poison')) return false
        const left = come.get(`${to} ${kind}`) ?? 0
        come.set(`${to} ${kind}`, left - 1)
        return left <= 0
      })
    },

    /**
     * Mails that came more than once: documented where a process was killed or the store was away between the mail
     * server's acceptance and the store's note of it. `windows` are those times, `{ from, to }`.
     */
    doubles(windows) {
      const firsts = new Map()
      const doubles = []
      for (const mail of arrived) {
        const first = firsts.get(mail.messageId)
        if (!first) firsts.set(mail.messageId, mail)
        else doubles.push({ ...mail, documented: windows.some(({ from, to }) => near(first.at, mail.at, from, to)) })
      }
      return doubles
    },

    counts: () => ({ promised: promised.length, arrived: arrived.length }),
  }
}

function near(firstAt, secondAt, from, to) {
  return firstAt < to && secondAt > from && secondAt < to + echoMs
}
