// What the dearest request of at most 16 KB costs each route, as CPU time of the main thread: by query, cookies, headers, JSON
// and forms. Each request is of a stranger, without limits. Password hashing runs in threads of its own and is not counted. In
// one process, on SQLite, through `auth.fetch`.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { routes } from '../../.build/routes/index.js'
import { createAuth } from '../../dist/index.js'
import { testSettings } from '../../dist/testing.js'
import { table } from './numbers.js'

const origin = 'https://app.example.test'
/** Gives each request another email address, so that no count of an address is full. */
let number = 0
const most = 16 * 1024
const bound = 2

export async function benchRoutes({ requests = 45 } = {}) {
  const ip = '1000000/1m'
  const byAccount = ['login', 'mail', 'guess', 'admin'].map((kind) => [kind, { ip, account: ip }])
  const byAddress = ['refresh', 'apiToken', 'other'].map((kind) => [kind, { ip }])
  const { limits: _, ...settings } = testSettings()
  const auth = createAuth({
    ...settings,
    baseUrl: origin,
    logger: { warn: () => {}, error: () => {} },
    google: { CLIENT_ID: 'id', CLIENT_SECRET: 'secret', REDIRECT_URI: `${origin}/auth/oauthcallback/google` },
    admin: { emails: ['root@example.test'], page: '/auth/admin', twoFactor: false },
    passkeys: { origins: [origin, 'https://other.example.test'] },
    password: { cost: 10, checkBreached: false },
    limits: Object.fromEntries([...byAccount, ...byAddress]),
  })
  await auth.ready()
  try {
    const found = []
    for (const route of routes.filter(({ development }) => !development)) {
      const tried = []
      for (const [name, request] of inputsFor(route)) tried.push({ name, request, ms: await glance(auth, request) })
      const [plain] = tried
      const likely = tried.toSorted((one, other) => other.ms - one.ms).slice(0, 3)
      for (const each of [plain, ...likely]) each.ms = await cost(auth, each.request, requests, mainThreadMs)
      const [dearest] = likely.toSorted((one, other) => other.ms - one.ms)
      const { status } = await auth.fetch(dearest.request(), { ip: '192.0.2.1' })
      found.push({
        route: `${route.method} ${route.path}`,
        name: dearest.name,
        ms: dearest.ms,
        status,
        plain: plain.ms,
      })
    }
    found.sort((one, other) => other.ms - one.ms)
    const rows = found.map(({ route, plain, name, status, ms }) => [
      route,
      plain.toFixed(2),
      name,
      status,
      ms.toFixed(2),
    ])
    const over = found.filter(({ ms }) => ms > bound)
    return {
      table: table([['route', 'plain, CPU ms', 'dearest input', 'status', 'CPU ms'], ...rows]),
      results: [
        {
          name: `dearest input of at most 16 KB, routes over ${bound} ms of CPU`,
          value: over.map(({ route }) => route).join(', ') || 'none',
          target: 'none',
          pass: over.length === 0,
        },
      ],
    }
  } finally {
    await auth.close()
  }
}

/** CPU milliseconds for one request. Requests that hash a password take long, so there are fewer of them. */
async function cost(auth, request, requests, cpuMs) {
  const started = performance.now()
  await auth.fetch(request(), { ip: '192.0.2.1' })
  const count = performance.now() - started > 30 ? Math.ceil(requests / 3) : requests
  const made = Array.from({ length: count }, request)
  const began = cpuMs()
  for (const each of made) await auth.fetch(each, { ip: '192.0.2.1' })
  return (cpuMs() - began) / count
}

/** One request, for a first look at many. */
async function glance(auth, request) {
  const made = request()
  const began = processMs()
  await auth.fetch(made, { ip: '192.0.2.1' })
  return processMs() - began
}

/** Counts hashing, too, but each microsecond. Good enough to find the likely ones. */
function processMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e3
}

/** Linux counts the time of each thread, every 4 ms; elsewhere the time of the whole process stands for it. */
function mainThreadMs() {
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return processMs()
  }
}

/** Pairs of a name and a function that makes the request. The first one is plain. */
function inputsFor(route) {
  const path = route.path.replace(':provider', 'google').replaceAll(/:\w+/g, 'x'.repeat(120))
  const address = `${origin}${route.root ? '' : '/auth'}${path}`
  const reads = route.method === 'GET'
  const ask = (options = {}) => {
    const { query = '', headers = {}, body = reads ? undefined : '{}' } = options
    const typed = body === undefined ? {} : { 'content-type': 'application/json' }
    const all = { ...browser, ...typed, ...headers }
    return () => {
      number += 1
      const sent = body?.replaceAll(/%(?:25)?n/g, number)
      return new Request(`${address}${query}`, { method: route.method, headers: all, body: sent, redirect: 'manual' })
    }
  }
  const inputs = [['plain', ask()]]
  for (const [name, query] of reads ? queries : queries.slice(0, 2)) inputs.push([`query: ${name}`, ask({ query })])
  for (const [name, headers] of headersOf()) inputs.push([name, ask({ headers })])
  if (reads) return inputs
  for (const [name, body] of jsonBodies(route)) inputs.push([`JSON: ${name}`, ask({ body })])
  if (route.method !== 'POST') return inputs
  for (const [name, body] of formBodies(route)) inputs.push([`form: ${name}`, ask({ body, headers: form })])
  return inputs
}

/** A navigation within our own origin, which gets pages. */
const browser = {
  origin,
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  accept: 'text/html',
}
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const filled = (piece, length = most) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const read = [
  'redirect',
  'error',
  'reasons',
  'fields',
  'token',
  'at',
  'cookie',
  'state',
  'code',
  'iss',
  'query',
  'cursor',
  'network',
  'url',
  'request',
  'mail',
  'from',
  'limit',
  'name',
]

const queries = [
  ['many names', `?${filled('a&')}`],
  ['many of one name', `?${filled('redirect=/a&')}`],
  ['a path of 2,048', `?redirect=/${filled('a/', 2_000)}`],
  ['a path with a query of 2,048', `?redirect=/a?${filled('b=%2f&', 2_000).replaceAll('&', '%26')}`],
  ...read.flatMap((name) => [
    [`${name}, plain`, `?${name}=${filled('x')}`],
    [`${name}, a list`, `?${name}=${filled('a,')}`],
    [`${name}, escaped`, `?${name}=${filled('%e2%82%ac')}`],
    [`${name}, markup`, `?${name}=${filled('%3c%26')}`],
  ]),
]

function headersOf() {
  const jwt = `${Buffer.from('{"alg":"HS256","typ":"at+jwt"}').toString('base64url')}.${filled('e30', 3_900)}.${filled('A', 43)}`
  const cookies = ['access-token', 'registration', 'otp', 'known-device', 'two-factor', 'oauth', 'passkey'].map(
    (name) => `__Host-${name}`,
  )
  cookies.push('__Secure-refresh-token')
  const each = Math.floor(most / cookies.length) - 32
  return [
    ['cookies: many', { cookie: filled('a=b; ') }],
    ['cookies: one name many times', { cookie: filled('__Host-access-token=a; ') }],
    ['cookies: a name without a pair', { cookie: filled('__Host-access-token=') }],
    ['cookies: every one of ours, long', { cookie: cookies.map((name) => `${name}=${filled('a', each)}`).join('; ') }],
    ['cookies: every one of ours, 43', { cookie: cookies.map((name) => `${name}=${filled('a', 43)}`).join('; ') }],
    ['cookies: a forged access token', { cookie: `__Host-access-token=${jwt}` }],
    ['cookies: a forged refresh token', { cookie: `__Secure-refresh-token=${jwt}; __Host-access-token=${jwt}` }],
    ['header: accept-encoding', { 'accept-encoding': filled('a;q=0,') }],
    ['header: accept', { accept: `text/html,${filled('a/b;q=0.1,')}` }],
    ['header: user-agent', { 'user-agent': filled('Mozilla/5.0 (X11; ') }],
    ['header: x-forwarded-for', { 'x-forwarded-for': filled('1.1.1.1,') }],
    ['header: authorization', { authorization: `Bearer ${filled('a')}` }],
    ['header: a forged bearer', { authorization: `Bearer ${jwt}` }],
    ['header: x-apikey', { 'x-apikey': filled('a') }],
    ['header: if-none-match', { 'if-none-match': filled('"a", ') }],
    ['header: if-none-match, blanks', { 'if-none-match': `"a"${filled(' ', most - 8)}"` }],
    ['header: content-type', { 'content-type': `application/json;${filled(' charset=utf-8;')}` }],
  ]
}

/** The names of the fields that a route reads. */
function fieldsOf({ body }) {
  if (body === null) return []
  const { properties = {}, anyOf = [] } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
  return [...new Set([properties, ...anyOf.map((one) => one.properties ?? {})].flatMap(Object.keys))]
}

/** Fields that pass, so that what comes after them is reached. */
const valid = {
  email: 'ada-%n@example.test',
  newEmail: 'bea-%n@example.test',
  password: 'correct horse battery',
  currentPassword: 'correct horse',
  newPassword: 'battery staple horse',
  code: '123456',
  token: filled('a', 43),
  name: 'Ada',
}

function jsonBodies(route) {
  const names = fieldsOf(route)
  const whole = Object.fromEntries(names.filter((name) => name in valid).map((name) => [name, valid[name]]))
  const texts = [
    ['plain', filled('a', 15_000)],
    ['€', filled('€', 5_000)],
    ['a letter of 18', filled('\ufdfa', 5_000)],
    ['marks', `a${filled('\u0301\u0323', 7_400)}`],
    ['an address', `${filled('a.', 7_000)}@${filled('a.', 7_000)}b`],
    ['the longest address', `${filled('a', 64)}@${filled('a.', 180)}b`],
    ['a key', filled('a', 128)],
  ]
  return [
    ['valid', JSON.stringify(whole)],
    [
      '200 fields',
      JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, filled('x', 60)]))),
    ],
    ['1,000 values', JSON.stringify({ ...whole, response: Array.from({ length: 990 }, () => 'aaaaaaaaaa') })],
    ['brackets', filled('[')],
    ['quotes', `{"a":"${filled('\\"', most - 10)}"}`],
    ['escapes', `{"name":"${filled('\\u0061', 15_000)}"}`],
    ['deep', `${filled('{"a":', 150)}1${filled('}', 30)}`],
    ...names.flatMap((name) =>
      texts.map(([kind, text]) => [`${name}, ${kind}`, JSON.stringify({ ...whole, [name]: text })]),
    ),
    ...names.map((name) => [
      `${name}, a list`,
      JSON.stringify({ ...whole, [name]: Array.from({ length: 990 }, () => 'a.example:1') }),
    ]),
  ]
}

function formBodies(route) {
  const names = fieldsOf(route)
  const whole = Object.fromEntries(names.filter((name) => name in valid).map((name) => [name, valid[name]]))
  return [
    ['valid', String(new URLSearchParams(whole))],
    ['200 fields', Array.from({ length: 199 }, (_, at) => `f${at}=${filled('%41', 66)}`).join('&')],
    ['ampersands', filled('&')],
    ['a return address', String(new URLSearchParams({ ...whole, _redirect: `/${filled('a/', 2_000)}` }))],
    ...names.map((name) => [
      `${name}, escaped`,
      `${new URLSearchParams(whole)}&x=1&${name}=${filled('%e2%82%ac', 14_000)}`,
    ]),
    ...names.map((name) => [
      `${name}, entries`,
      String(new URLSearchParams({ ...whole, [name]: filled('10.0.0.0/8\n', 11_000) })),
    ]),
  ]
}
