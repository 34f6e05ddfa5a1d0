// Credentials that were ended, and the answer that said so received: nobody may take them any more.

/** From the answer on; the second is the bound for the processes that did not end it themselves. */
const boundMs = 1_000
const probesAfterMs = [0, 1_000, 1_250, 1_600, 2_500, 5_000, 10_000, 20_000, 45_000, 90_000, 150_000, 240_000, 360_000]

export function createRevoked({ ask, oracle, instances }) {
  const all = []
  const timers = new Set()

  async function probe(credential) {
    await Promise.all(instances.map((instance) => probeAt(credential, instance)))
  }

  async function probeAt({ wishOf, why, endedAt, endedBy }, instance) {
    const answer = await ask('revoked', { method: 'GET', path: '/api/me', ...wishOf(), instance })
    const late = answer.sentAt - endedAt
    if (answer.status < 200 || answer.status > 299) return
    if (late >= boundMs || instance === endedBy) {
      oracle.broken('accepted revoked credentials', `${why}: taken by ${instance} ${late} ms after ${endedBy} ended it`)
    }
  }

  return {
    /** `wishOf` makes a request with that credential; `answer` the one that said that it has ended. */
    add(wishOf, why, answer) {
      const credential = { wishOf, why, endedAt: answer.answeredAt, endedBy: answer.instance }
      all.push(credential)
      for (const after of probesAfterMs) {
        const timer = setTimeout(() => {
          timers.delete(timer)
          probe(credential)
        }, after)
        timers.add(timer)
      }
    },

    /** Each once more, at every process. */
    async judge() {
      for (const timer of timers) clearTimeout(timer)
      for (const credential of all) await probe(credential)
    },

    count: () => all.length,
  }
}

/** What was used once must be worth nothing a second time, also later and elsewhere. */
export function createUsed({ ask, oracle }) {
  const used = []

  /**
   * One request sent to several processes at the same moment: at most one may succeed. `wishOf(index)` makes it anew, with
   * cookies of its own. `uncertain`: an answer is missing that may have been the success.
   */
  async function race(operation, wishOf, { tabs = 3 } = {}) {
    const wishes = Array.from({ length: tabs }, (_, index) => ({ ...wishOf(index), instance: index }))
    const answers = await Promise.all(wishes.map((wish) => ask(operation, wish)))
    const winners = answers.flatMap((answer, index) => (answer.status === 200 ? [{ answer, wish: wishes[index] }] : []))
    if (winners.length > 1) oracle.broken('double uses', `${operation}: ${winners.length} of ${answers.length}`)
    const [won = null] = winners
    if (won) remember(operation, () => wishOf(0))
    return { won, uncertain: answers.some(({ status }) => status === 0 || status >= 500) }
  }

  function remember(operation, wishOf) {
    used.push({ operation, wishOf })
    for (const after of [1_500, 12_000]) setTimeout(() => again(operation, wishOf), after).unref()
  }

  async function again(operation, wishOf) {
    const { status } = await ask('used again', wishOf())
    if (status === 200) oracle.broken('double uses', `${operation}: again, after it had succeeded`)
  }

  return {
    race,
    async judge() {
      for (const { operation, wishOf } of used) await again(operation, wishOf)
    },
  }
}
