import { AuthError } from '../../../errors.js'
import type { World } from '../../../lib/runtime.js'
import { type Actor, actorId } from '../../../model/actor.js'

/** Uploads under way. What they send is kept apart until it is whole, so none of them keeps a change of a space waiting. */
export interface Uploads {
  /** @throws {AuthError} `space_busy` when too many are under way for this caller, this space or the host */
  enter(upload: { spaceId: string; by: Actor | null; mostBytes: number }): Upload
}

export interface Upload {
  /** Of no other upload. */
  id: string
  /**
   * The pieces, as they arrive.
   *
   * @throws {AuthError} `invalid_request` when they stall; `quota_exceeded` when all uploads of this caller, or to this space,
   *   send too much at once, or the disk is nearly full
   */
  read(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Ends it. */
  leave(): void
}

/** How many at once. No caller alone fills a space, and no space the host. */
export const mostUploads = { ofOneInSpace: 4, ofOne: 8, ofSpace: 16, inAll: 64 } as const

/** An upload ends after so long without a byte, and when it sends less than that many bytes while we wait so long. */
const slowUpload = { silentMs: 30_000, windowMs: 60_000, windowBytes: 64 * 1024 } as const

interface Entered {
  spaceId: string
  by: string
  /** Of the most that its caller may send of its kind, so that large kinds do not keep small ones out. */
  share: number
}

interface UploadsWorld extends Pick<World, 'timer' | 'monotonic'> {
  id(): string
  isFull(): boolean
}

export function createUploads(world: UploadsWorld): Uploads {
  const entered = new Set<Entered>()
  return {
    enter({ spaceId, by, mostBytes }) {
      const own: Entered = { spaceId, by: nameOf(by), share: 0 }
      requireRoom([...entered], own)
      entered.add(own)
      let received = 0
      const count = (bytes: number) => {
        received += bytes
        own.share = received / mostBytes
        const all = [...entered]
        const ofCaller = all.filter((each) => each.by === own.by)
        const ofSpace = all.filter((each) => each.spaceId === own.spaceId)
        if (sum(ofCaller) > 1 || sum(ofSpace) > mostUploads.ofOneInSpace) throw tooMuch()
        if (world.isFull()) throw diskFull()
      }
      return {
        id: world.id(),
        read: (pieces) => ({ [Symbol.asyncIterator]: () => watched(pieces[Symbol.asyncIterator](), world, count) }),
        leave: () => void entered.delete(own),
      }
    },
  }
}

/** All sessions of a user count as one. */
function nameOf(by: Actor | null): string {
  return `${by?.kind ?? ''} ${actorId(by) ?? ''}`
}

function sum(uploads: readonly Entered[]): number {
  return uploads.reduce((total, { share }) => total + share, 0)
}

function requireRoom(all: readonly Entered[], { spaceId, by }: Entered): void {
  const ofCaller = all.filter((each) => each.by === by)
  if (ofCaller.filter((each) => each.spaceId === spaceId).length >= mostUploads.ofOneInSpace) {
    throw tooMany(`${mostUploads.ofOneInSpace} of your uploads to this space are under way.`)
  }
  if (ofCaller.length >= mostUploads.ofOne) throw tooMany(`${mostUploads.ofOne} of your uploads are under way.`)
  if (all.filter((each) => each.spaceId === spaceId).length >= mostUploads.ofSpace) {
    throw tooMany(`${mostUploads.ofSpace} uploads to this space are under way.`)
  }
  if (all.length >= mostUploads.inAll) throw tooMany(`${mostUploads.inAll} uploads to this host are under way.`)
}

/** The time in which the client waits for us does not count. */
function watched(
  iterator: AsyncIterator<Uint8Array>,
  { timer, monotonic }: UploadsWorld,
  count: (bytes: number) => void,
): AsyncIterator<Uint8Array> {
  let [waitedMs, windowBytes] = [0, 0]

  /** A generator that waits for its own next item answers `return` only then. */
  function end(fault: AuthError): AuthError {
    void iterator.return?.().catch(() => {})
    return fault
  }

  async function nextPiece(): Promise<IteratorResult<Uint8Array>> {
    let cancel = () => {}
    const silence = new Promise<never>((_resolve, reject) => {
      cancel = timer(slowUpload.silentMs, () => reject(end(tooSlow())))
    })
    try {
      return await Promise.race([iterator.next(), silence])
    } finally {
      cancel()
    }
  }

  return {
    async next() {
      const before = monotonic()
      const next = await nextPiece()
      if (next.done === true) return next
      waitedMs += monotonic() - before
      windowBytes += next.value.length
      if (waitedMs > slowUpload.windowMs) {
        if (windowBytes < slowUpload.windowBytes) throw end(tooSlow())
        ;[waitedMs, windowBytes] = [0, 0]
      }
      try {
        count(next.value.length)
      } catch (error) {
        throw error instanceof AuthError ? end(error) : error
      }
      return next
    },
    async return() {
      await iterator.return?.()
      return { done: true, value: undefined }
    },
  }
}

function tooMany(why: string): AuthError {
  return new AuthError('space_busy', { detail: `${why} Try again when one of them has ended.` })
}

function tooSlow(): AuthError {
  const [seconds, kilobytes] = [slowUpload.silentMs / 1_000, slowUpload.windowBytes / 1_024]
  const detail = `The upload was too slow: it ends after ${seconds} s without a byte, or with less than ${kilobytes} KiB a minute.`
  return new AuthError('invalid_request', { detail })
}

function tooMuch(): AuthError {
  return new AuthError('quota_exceeded', {
    detail: 'Your uploads under way are too large together. Send them one by one.',
  })
}

/** As `requireDisk`, in the middle of an upload. */
function diskFull(): AuthError {
  return new AuthError('quota_exceeded', {
    detail: 'The disk of the host is nearly full. Free some space on it, and try again.',
  })
}
