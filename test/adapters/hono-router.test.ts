import { expect, test } from 'vitest'
import type { FusableApp, HonoHandler, HonoMatch } from '../../src/adapters/hono-app.js'
import { FusingRouter } from '../../src/adapters/hono-router.js'

const layer = async () => undefined
const first: HonoHandler = () => undefined
const second: HonoHandler = () => undefined

/** A router that gives the same rows again, and tells what it was asked. */
function setUp() {
  const asked: string[] = []
  const rows = new Map<string, HonoMatch[0]>()
  const routes: FusableApp['routes'] = []
  const inner = {
    name: 'inner',
    add: () => {},
    match(method: string, path: string): HonoMatch {
      asked.push(`${method} ${path}`)
      return [rows.get(path) ?? []]
    },
  }
  const row = (path: string, ...handlers: HonoHandler[]) => {
    const made: HonoMatch[0] = [layer, ...handlers].map((handler) => [[handler, null], {}])
    rows.set(path, made)
    return made
  }
  const app = { router: inner, routes } as unknown as FusableApp
  const asOne: Map<HonoHandler, HonoHandler> = new Map()
  const fused = (handler: HonoHandler) => {
    const one: HonoHandler = () => undefined
    asOne.set(one, handler)
    return one
  }
  const router = new FusingRouter(app, layer, fused)
  /** Which handlers stand behind a path: of the fused ones, what they were made of. */
  const found = (method: string, path: string) =>
    router.match(method, path)[0].map(([[handler]]) => asOne.get(handler) ?? handler)
  return { asked, row, routes, router, found }
}

test('a path is looked up once for each method in turn, and anew once there is another route', () => {
  const { asked, row, routes, found } = setUp()
  row('/a', first)
  for (const method of ['GET', 'GET', 'POST', 'POST', 'GET']) expect(found(method, '/a')).toEqual([first])
  expect(asked).toEqual(['GET /a', 'POST /a', 'GET /a'])
  routes.push({ method: 'GET', path: '/b' })
  found('GET', '/a')
  found('GET', '/a')
  expect(asked).toHaveLength(4)
})

test('a route that comes late is found where there was none', () => {
  const { row, routes, found } = setUp()
  expect(found('GET', '/late')).toEqual([])
  row('/late', first)
  routes.push({ method: 'GET', path: '/late' })
  expect(found('GET', '/late')).toEqual([first])
})

test('paths of one length, or of lengths that share a place, are told apart; a long one is not remembered', () => {
  const { asked, row, found } = setUp()
  const far = `/${'x'.repeat(1 + 64)}`
  row('/a', first)
  row('/b', second)
  row(far, first, second)
  const inTurn = ['/a', '/b', far, '/a', far].map((path) => found('GET', path))
  expect(inTurn).toEqual([[first], [second], [layer, first, second], [first], [layer, first, second]])
  const [longest, longer] = [256, 257].map((length) => `/${'y'.repeat(length - 1)}`)
  asked.length = 0
  for (const path of [longest, longest, longer, longer]) found('GET', path ?? '')
  expect(asked).toEqual([`GET ${longest}`, `GET ${longer}`, `GET ${longer}`])
})

test('a row stays one while it has one handler, and is no longer once another one is written into it', () => {
  const { row, routes, router, found } = setUp()
  const made = row('/a', first)
  const [one] = router.match('GET', '/a')[0]
  expect(router.match('POST', '/a')[0][0]?.[0][0]).toBe(one?.[0][0])
  made.push([[second, null], {}])
  routes.push({ method: 'GET', path: '/a' })
  expect(found('GET', '/a')).toEqual([layer, first, second])
})
