import { expect, test } from 'vitest'
import { createUploads, mostUploads } from '../../../src/host/flows/spaces/uploads.js'
import type { Actor } from '../../../src/model/actor.js'

const token = (tokenId: string): Actor => ({ kind: 'adminToken', tokenId })

function bed() {
  const timers = new Set<() => void>()
  const clock = { nowMs: 0, isFull: false, ids: 0 }
  const uploads = createUploads({
    timer(_milliseconds, callback) {
      timers.add(callback)
      return () => void timers.delete(callback)
    },
    monotonic: () => clock.nowMs,
    id() {
      clock.ids += 1
      return `upload-${clock.ids}`
    },
    isFull: () => clock.isFull,
  })
  const pass = () => {
    for (const callback of [...timers]) callback()
  }
  return { uploads, clock, timers, pass }
}

async function sizeOf(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const piece of pieces) size += piece.length
  return size
}

test('of one caller, of one space and of all, so many uploads are under way at once', () => {
  const { uploads } = bed()
  const enter = (by: Actor, spaceId: string) => uploads.enter({ spaceId, by, mostBytes: 1_000 })
  const own = Array.from({ length: mostUploads.ofOneInSpace }, () => enter(token('a'), 's1'))
  expect(new Set(own.map(({ id }) => id)).size).toBe(mostUploads.ofOneInSpace)
  expect(() => enter(token('a'), 's1')).toThrow('4 of your uploads to this space')
  for (let at = own.length; at < mostUploads.ofOne; at += 1) enter(token('a'), 's2')
  expect(() => enter(token('a'), 's3')).toThrow('8 of your uploads')
  enter(token('b'), 's1')
  own[0]?.leave()
  own[0]?.leave()
  enter(token('a'), 's1')
  expect(() => enter(token('a'), 's1')).toThrow('4 of your uploads to this space')
  // All sessions of one person count together.
  const session = (sessionId: string): Actor => ({ kind: 'user', userId: 'ann', sessionId, impersonating: null })
  for (const id of ['1', '2', '3', '4']) enter(session(id), 's4')
  expect(() => enter(session('5'), 's4')).toThrow('4 of your uploads to this space')
  for (const other of ['c', 'd', 'e']) for (let at = 0; at < 4; at += 1) enter(token(other), 's4')
  expect(() => enter(token('f'), 's4')).toThrow('16 uploads to this space')
})

test('ATK-238 an upload that stalls ends, and one that is slow for a minute', async () => {
  const { uploads, clock, timers, pass } = bed()
  const upload = uploads.enter({ spaceId: 's', by: token('a'), mostBytes: 1_000_000 })
  let hasReturned = false
  const silent: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      async return() {
        hasReturned = true
        return { done: true, value: undefined }
      },
    }),
  }
  const stalled = expect(sizeOf(upload.read(silent))).rejects.toMatchObject({ code: 'invalid_request' })
  expect(timers.size).toBe(1)
  pass()
  await stalled
  expect(hasReturned).toBe(true)
  expect(timers.size).toBe(0)

  async function* trickle(bytes: number) {
    for (let at = 0; at < 100; at += 1) {
      clock.nowMs += 1_000
      yield Buffer.alloc(bytes)
    }
  }
  await expect(sizeOf(upload.read(trickle(1)))).rejects.toMatchObject({ code: 'invalid_request' })
  expect(await sizeOf(upload.read(trickle(2_000)))).toBe(200_000)
})

test('the time in which the client waits for us does not count', async () => {
  const { uploads, clock } = bed()
  const upload = uploads.enter({ spaceId: 's', by: token('a'), mostBytes: 1_000_000 })
  async function* pieces() {
    for (let at = 0; at < 10; at += 1) yield Buffer.alloc(1)
  }
  let size = 0
  for await (const piece of upload.read(pieces())) {
    clock.nowMs += 600_000
    size += piece.length
  }
  expect(size).toBe(10)
})

test('ATK-238 uploads of one caller are bounded together, and end when the disk is nearly full', async () => {
  const { uploads, clock } = bed()
  async function* pieces(count: number) {
    for (let at = 0; at < count; at += 1) yield Buffer.alloc(100)
  }
  const [first, second] = [1, 2].map(() => uploads.enter({ spaceId: 's', by: token('a'), mostBytes: 1_000 }))
  const other = uploads.enter({ spaceId: 's', by: token('b'), mostBytes: 1_000 })
  expect(await sizeOf(first?.read(pieces(6)) ?? pieces(0))).toBe(600)
  await expect(sizeOf(second?.read(pieces(6)) ?? pieces(0))).rejects.toMatchObject({ code: 'quota_exceeded' })
  expect(await sizeOf(other.read(pieces(6)))).toBe(600)
  clock.isFull = true
  await expect(sizeOf(other.read(pieces(1)))).rejects.toMatchObject({ code: 'quota_exceeded' })
})

test('a large upload of one kind leaves its caller room for a small one of another', async () => {
  const { uploads } = bed()
  async function* pieces(count: number) {
    for (let at = 0; at < count; at += 1) yield Buffer.alloc(100)
  }
  const large = uploads.enter({ spaceId: 's', by: token('a'), mostBytes: 10_000 })
  const small = uploads.enter({ spaceId: 's', by: token('a'), mostBytes: 1_000 })
  expect(await sizeOf(large.read(pieces(50)))).toBe(5_000)
  expect(await sizeOf(small.read(pieces(5)))).toBe(500)
  await expect(sizeOf(small.read(pieces(1)))).rejects.toMatchObject({ code: 'quota_exceeded' })
})
