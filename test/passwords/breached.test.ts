import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createBreachedPasswords } from '../../src/passwords/breached.js'
import { createTestClock, type TestClock } from '../../src/testing.js'
import { type RangeServer, sha1, startRangeServer } from '../support/range-server.js'

const known = 'correct horse battery'
const unknown = 'a difference engine of brass'

interface Scene {
  range: RangeServer
  clock: TestClock
  /** Why it could not be asked, each time that this was told. */
  outages: string[]
  includes(password: string): Promise<boolean>
}

async function setScene(breached: Readonly<Record<string, number>> = { [known]: 12 }): Promise<Scene> {
  const range = await startRangeServer(breached)
  onTestFinished(() => range.close())
  const clock = createTestClock()
  const outages: string[] = []
  const { includes } = createBreachedPasswords({
    rangeApi: `${range.url}/`,
    world: { fetch, timer: clock.timer, monotonic: clock.monotonic },
    onUnavailable: async (reason) => void outages.push(reason),
  })
  return { range, clock, outages, includes }
}

test('a password of a breach is known, any other is not', async () => {
  const { includes, outages } = await setScene()
  expect(await includes(known)).toBe(true)
  expect(await includes(unknown)).toBe(false)
  expect(outages).toEqual([])
})

test('five digits of the digest leave, and nothing else that depends on the password', async () => {
  const { includes, range } = await setScene()
  for (const password of [known, unknown]) await includes(password)
  // SHA-1 by Python's hashlib.
  expect(range.asked.map(({ path }) => path)).toEqual(['/range/98DEC', '/range/173B4'])
  const [first, second] = range.asked.map(({ headers }) => headers)
  expect(first).toEqual(second)
  expect(first).toMatchObject({ 'add-padding': 'true', 'user-agent': 'latchkey' })
})

test('lines that only pad count for nothing, though they look like the password', async () => {
  expect(await (await setScene({ [known]: 0 })).includes(known)).toBe(false)
})

test('digits are compared in either case, and with either kind of line ends', async () => {
  const { includes, range } = await setScene()
  range.answer = (response) => response.end(`${sha1(known).slice(5).toLowerCase()}:3\n`)
  expect(await includes(known)).toBe(true)
  range.answer = (response) => response.end(`${sha1('x').slice(5)}:1\r\n${sha1(known).slice(5)}:3\r\n`)
  expect(await includes(known)).toBe(true)
})

test('both spellings of one text are one password, and what is no text is not asked for', async () => {
  const { includes, range } = await setScene({ 'Am\u00e9lie of the brass engine': 4 })
  expect(await includes('Ame\u0301lie of the brass engine')).toBe(true)
  expect(await includes('lonely \ud800 surrogate')).toBe(false)
  expect(range.asked).toHaveLength(1)
})

test('a range without a single line is a range', async () => {
  const { includes, range, outages } = await setScene()
  range.answer = (response) => response.end()
  expect(await includes(known)).toBe(false)
  expect(outages).toEqual([])
})

const hostile: readonly [string, (response: ServerResponse) => void, string][] = [
  ['500', (response) => response.writeHead(500).end(`${sha1(known).slice(5)}:3`), 'bad_status'],
  ['404', (response) => response.writeHead(404).end(), 'bad_status'],
  ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end(), 'redirected'],
  ['a page', (response) => response.end('<!doctype html><title>Sign in to the hotel</title>'), 'malformed'],
  ['one line that is none', (response) => response.end(`${sha1(known).slice(5)}:3\r\n${sha1('x')}:1`), 'malformed'],
  ['a count that is none', (response) => response.end(`${sha1(known).slice(5)}:-3`), 'malformed'],
  ['a body of 10 MB', (response) => response.end(`${sha1('x').slice(5)}:1\r\n`.repeat(270_000)), 'too_big'],
  ['a body that breaks off', (response) => cutOff(response), 'unreachable'],
  ['a hang-up', (response) => response.destroy(), 'unreachable'],
]

function cutOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1000' })
  response.write(`${sha1(known).slice(5)}:3\r\n`, () => response.destroy())
}

test.each(hostile)('%s lets the password pass, and is told of', async (_name, answer, reason) => {
  const { includes, range, outages } = await setScene()
  range.answer = answer
  expect(await includes(known)).toBe(false)
  expect(outages).toEqual([reason])
  // Nobody has followed a redirect.
  expect(range.asked).toHaveLength(1)
})

test('a server that is not there lets the password pass', async () => {
  const { includes, range, outages } = await setScene()
  await range.close()
  expect(await includes(known)).toBe(false)
  expect(outages).toEqual(['unreachable'])
})

test.each([
  ['never answers', () => {}],
  ['sends one line and then nothing', (response: ServerResponse) => void response.write(`${sha1('x').slice(5)}:1\r\n`)],
])('a server that %s is given up after 1.5 s, and hung up on', async (_name, answer) => {
  const { includes, range, clock, outages } = await setScene()
  const response = new Promise<ServerResponse>((resolve) => {
    range.answer = (answering) => {
      answer(answering)
      resolve(answering)
    }
  })
  const asking = includes(known)
  const hungUp = once(await response, 'close')
  await clock.advance(1_499)
  expect(outages).toEqual([])
  await clock.advance(1)
  expect(await asking).toBe(false)
  expect(outages).toEqual(['too_slow'])
  await hungUp
})

test('a fetch that heeds no signal does not hold anybody up either', async () => {
  const clock = createTestClock()
  const outages: string[] = []
  const { includes } = createBreachedPasswords({
    rangeApi: 'https://range.example.test/',
    world: { fetch: () => new Promise(() => {}), timer: clock.timer, monotonic: clock.monotonic },
    onUnavailable: async (reason) => void outages.push(reason),
  })
  const asking = includes(known)
  await clock.advance(1_500)
  expect(await asking).toBe(false)
  expect(outages).toEqual(['too_slow'])
})

test('after a failure nobody asks for 30 s; then one does, and the others do not wait for it', async () => {
  const { includes, range, clock, outages } = await setScene()
  const works = range.answer
  range.answer = (response) => response.writeHead(503).end()
  await includes(known)
  await clock.advance(29_999)
  expect(await includes(known)).toBe(false)
  expect(range.asked).toHaveLength(1)

  await clock.advance(1)
  expect(await Promise.all([includes(known), includes(known), includes(known)])).toEqual([false, false, false])
  expect(range.asked).toHaveLength(2)
  expect(outages).toEqual(['bad_status', 'bad_status'])

  range.answer = works
  await clock.advance(30_000)
  expect(await includes(known)).toBe(true)
  expect(await includes(known)).toBe(true)
  expect(outages).toHaveLength(2)
})

test('an outage is told once, however many were asking', async () => {
  const { includes, range, outages } = await setScene()
  range.answer = (response) => response.writeHead(503).end()
  expect(await Promise.all(Array.from({ length: 20 }, () => includes(known)))).not.toContain(true)
  expect(range.asked).toHaveLength(20)
  expect(outages).toEqual(['bad_status'])
})
