import type { SessionAnswer } from '../model/session-answer.js'
import { now } from './browser.js'
import { errorOf, jsonOf, rethrow } from './error.js'
import { type Renewing, renewOnce } from './renew.js'
import { refusal, sendFresh } from './send.js'
import { sessionIn } from './session-state.js'

/** Asks the server who is signed in. */
export interface Loader {
  /** Calls meanwhile get the same answer. */
  load(): Promise<SessionAnswer | null>
  /** Marks the known session, or the answer under way, as out of date. */
  reload(): void
  refresh(): Promise<SessionAnswer | null>
}

export function createLoader(renewing: Renewing): Loader {
  const { state } = renewing
  let loading: Promise<SessionAnswer | null> | null = null

  function begin(): Promise<SessionAnswer | null> {
    const mine = loadNow(renewing)
      .catch(rethrow)
      .finally(() => {
        if (loading === mine) loading = null
      })
    loading = mine
    return mine
  }

  return {
    load: () => loading ?? begin(),
    reload() {
      state.outdate()
      if (state.isWatched()) begin().catch(() => {})
    },
    refresh: () => refreshNow(renewing, begin).catch(rethrow),
  }
}

async function refreshNow(renewing: Renewing, load: Loader['load']): Promise<SessionAnswer | null> {
  const { message, own } = await renewOnce(renewing, now())
  if (message.kind === 'wait') throw await errorOf(refusal(message))
  return own || message.kind === 'out' ? (renewing.state.get() ?? null) : load()
}

async function loadNow(renewing: Renewing): Promise<SessionAnswer | null> {
  const { state, board, ask } = renewing
  let age = 0
  const send = () => {
    age = state.age()
    return ask('GET', '/me')
  }
  const answer = await sendFresh({ send, renew: (sentAt) => renewOnce(renewing, sentAt) })
  if (!answer.ok && answer.status !== 401) throw await errorOf(answer)
  const published = answer.ok ? sessionIn(await jsonOf(answer)) : null
  // A message of another tab that came meanwhile is newer than this answer.
  if (age === state.age()) {
    if (!published && state.get()) board.publish({ kind: 'out' })
    state.set(published)
  }
  return state.get() ?? null
}
