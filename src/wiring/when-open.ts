import { storeUnavailable } from '../errors.js'
import type { HttpRequest } from '../http/message.js'
import type { Ask, Handle, Verdict, Watch } from '../http/verdict.js'
import type { Requirement } from '../settings/requirement.js'
import type { Opening } from './opening.js'
import type { WithoutStore } from './without-store.js'

/** What adapters mount at once. Requests wait until the store is open; once it is, calls stay synchronous. */
export interface WhenOpen {
  handle: Handle
  watch: Watch
  /** The question of a single route, such as `auth.require` asks it. */
  ask(requirement: Requirement): Ask
}

export function createWhenOpen(opening: Opening, withoutStore: WithoutStore): WhenOpen {
  return {
    handle(request) {
      const live = opening.live()
      if (live) return live.handle(request)
      opening.start()
      return withoutStore.judge(request) ?? handleLate(opening, withoutStore, request)
    },
    watch(principal, close) {
      const live = opening.live()
      if (live) return live.watch(principal, close)
      close()
      return () => {}
    },
    ask(requirement) {
      return (request, found) => {
        const live = opening.live()
        if (live) return live.guard.require(request, requirement, found)
        return requireLate(opening, withoutStore, (late) => late.guard.require(request, requirement, found))
      }
    },
  }
}

async function handleLate(opening: Opening, { refuse }: WithoutStore, request: HttpRequest): Promise<Verdict> {
  const live = await opening.ready().catch(() => null)
  return live === null ? refuse(request) : live.handle(request)
}

async function requireLate(
  opening: Opening,
  withoutStore: WithoutStore,
  judge: (live: Awaited<ReturnType<Opening['ready']>>) => Verdict | Promise<Verdict>,
): Promise<Verdict> {
  const live = await opening.ready().catch(() => null)
  return live === null ? unavailable(withoutStore) : judge(live)
}

function unavailable({ problem }: WithoutStore): Verdict {
  return { kind: 'answer', response: problem(storeUnavailable()) }
}
