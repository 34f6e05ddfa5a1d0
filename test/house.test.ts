import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { floorFaults, ownerFaults, weightFaults } from './support/house-floors.js'
import {
  type Exceptions,
  exportFaults,
  sizeFaults,
  stateFaults,
  titleFaults,
  typeFaults,
  worldFaults,
} from './support/house-habits.js'
import { idleNameExceptions, nameFaults, oldNameFaults } from './support/house-names.js'
import { cycleFaults, folderFaults, houseRooms, roomFaults } from './support/house-rooms.js'
import { parse, readSources, type Source } from './support/house-source.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = readSources(root)
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .trim()
  .split('\n')

/** What the house lets off. Keep it short: each line is a place where the compiler does not help. */
const exceptions: Exceptions = {
  unmeasured: [
    'src/templates/built-in.ts',
    'src/passwords/hash-worker-text.ts',
    'src/routes/index.ts',
    'src/cli/commands/index.ts',
  ],
  boundaries: ['src/http/route.ts#checked'],
}

const topLevel = [
  'src',
  'templates',
  'test',
  'examples',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'llms.txt',
]

/** Files by path, each parsed: what a rule is shown to catch. */
function house(files: Readonly<Record<string, string>>): Source[] {
  return Object.entries(files).map(([path, text]) => parse(path, text))
}

describe('floors', () => {
  test('every import goes down or stays in its folder', () => {
    expect(sources.length).toBeGreaterThan(0)
    expect(floorFaults(sources)).toEqual([])
  })

  test.each([
    ['src/store/sql/users.ts', "import { digest } from '../../tokens/jwt.js'", 'a reach module imports a sibling'],
    ['src/mail/outbox.ts', "import type { Store } from '../store/store.js'", 'a sibling even for its type'],
    ['src/tokens/jwt.ts', "import type { Ports } from '../ports.js'", 'a reach module looks up'],
    ['src/lib/clock.ts', "import { login } from '../flows/password/login.js'", 'the ground looks up'],
    ['src/errors.ts', "export { login } from './flows/password/login.js'", 'the ground exports what is above'],
    ['src/flows/password/login.ts', "import { users } from '../../store/store.js'", 'a flow reaches past its ports'],
    ['src/flows/password/login.ts', "import { type Ports } from '../../ports.js'", 'a flow loads the ports'],
    ['src/flows/password/login.ts', "import type { Route } from '../../http/route.js'", 'a flow knows HTTP'],
    [
      'src/routes/password/login.ts',
      "import type { Users } from '../../store/store.js'",
      'a route reaches past the flows',
    ],
    ['src/http/router.ts', "import { routes } from '../routes/password/login.js'", 'http knows the routes'],
    [
      'src/adapters/node/express.ts',
      "import type { Route } from '../../http/route.js'",
      'an adapter knows more than messages',
    ],
    ['src/guard/guard.ts', "const load = () => import('../store/store.js')", 'a lazy import is an import'],
    ['src/guard/guard.ts', "type Store = import('../init.js').Auth", 'an import type is an import'],
    ['src/client/calls.ts', "import { isoTime } from '../lib/url.js'", 'the browser client loads code of the server'],
    ['src/client.ts', "import type { Route } from './http/route.js'", 'the browser client knows more than nouns'],
    ['src/wiring/open.ts', "import { users } from '../control/users.js'", 'wiring knows what stands on it'],
    ['src/control/users.ts', "import { users } from '../store/store.js'", 'a call of auth reaches past the flows'],
    ['src/cli/local.ts', "import { openTool } from '../wiring/for-tool.js'", 'the tool loads the wiring at its start'],
    ['src/cli/home.ts', "const load = () => import('../flows/password/login.js')", 'the tool reaches past the wiring'],
    ['src/init.ts', "const load = () => import('./cli/home.js')", 'the package knows the tool'],
    ['src/init.ts', "const load = () => import('./host/ports.js')", 'the package knows the host'],
    ['src/host/runner/main.ts', "import { isoTime } from '../../lib/url.js'", 'the child loads what is ours'],
  ])('%s with «%s» is a fault: %s', (path, text) => {
    const rest = {
      'src/flows/password/login.ts': '',
      'src/store/store.ts': '',
      'src/tokens/jwt.ts': '',
      'src/routes/password/login.ts': '',
      'src/http/route.ts': '',
      'src/ports.ts': '',
      'src/init.ts': '',
      'src/lib/url.ts': '',
      'src/control/users.ts': '',
      'src/wiring/for-tool.ts': '',
      'src/cli/home.ts': '',
      'src/host/ports.ts': '',
    }
    expect(floorFaults(house(rest))).toEqual([])
    expect(floorFaults(house({ ...rest, [path]: text }))).toEqual([expect.stringContaining('may not import')])
  })

  test('a folder without a floor and a target that does not exist are faults', () => {
    const floorless = house({ 'src/new-floor/thing.ts': "import './other.js'", 'src/new-floor/other.ts': '' })
    expect(floorFaults(floorless)).toEqual(['src/new-floor/thing.ts stands on no floor of the house'])
    const gone = house({ 'src/flows/password/login.ts': "import { gone } from './gone.js'" })
    expect(floorFaults(gone)).toEqual([expect.stringContaining('which does not exist')])
  })

  test('what the floors allow is no fault', () => {
    const allowed = house({
      'src/model/user.ts': '',
      'src/ports.ts': "import type { Store } from './store/store.js'",
      'src/store/store.ts': "import type { User } from '../model/user.js'",
      'src/flows/password/login.ts':
        "import type { Ports } from '../../ports.js'\nimport { open } from '../session/open-session.js'",
      'src/flows/session/open-session.ts': "import type { User } from '../../model/user.js'",
      'src/routes/password/login.ts': "import { login } from '../../flows/password/login.js'",
      'src/wiring/opening.ts': '',
      'src/control/users.ts': "import type { Opening } from '../wiring/opening.js'",
      'src/auth.ts': "import './control/users.js'\nconst load = () => import('./store/store.js')",
      'src/wiring/for-tool.ts': '',
      'src/cli/local.ts':
        "import type { Flows } from '../wiring/for-tool.js'\nconst load = () => import('../wiring/for-tool.js')",
    })
    expect(floorFaults(allowed)).toEqual([])
  })
})

describe('rooms', () => {
  test('no folder has more files than can be seen at once', () => {
    expect(folderFaults(sources)).toEqual([])
  })

  test.each([
    ['src/flows/steps', 30],
    ['src/guard', 30],
    ['src', 30],
    ['src/lib', 38],
    ['src/store/sql', 30],
  ])('one file more in %s than %i is a fault; files of its rooms do not count', (folder, most) => {
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${folder}/f${at}.ts`, '']))
    expect(folderFaults(house({ ...files(most), [`${folder}/room/more.ts`]: '' }))).toEqual([])
    expect(folderFaults(house(files(most + 1)))).toEqual([expect.stringContaining(`${folder} has ${most + 1}`)])
  })

  test('every import between rooms runs down', () => {
    expect(roomFaults(sources)).toEqual([])
  })

  test('the order of rooms names only what exists', () => {
    const named = Object.entries(houseRooms).flatMap(([folder, { levels, above }]) => [
      ...levels.flat().map((room) => `${folder}/${room}`),
      ...(above === 'all' ? [] : above.map((file) => `${folder}/${file}.ts`)),
    ])
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  test.each([
    ['src/flows/steps/audit.ts', '../session/open.js', 'a step knows a use case'],
    ['src/flows/session/open.ts', '../account/read.js', 'a lower room knows a higher one'],
    ['src/flows/registration/register.ts', '../two-factor/enrol.js', 'rooms of one level know each other'],
    ['src/flows/otp/verify.ts', '../oauth/finish.js', 'rooms of the highest level know each other'],
    ['src/routes/session/answer.ts', '../password/login.js', 'the room of sessions knows another'],
    ['src/routes/otp/api.ts', '../password/login.js', 'a route knows a route of another room'],
    ['src/routes/password/login.ts', '../page-routes.js', 'a room knows the table above it'],
    ['src/routes/fields.ts', './password/login.js', 'a file below the rooms knows one of them'],
    ['src/routes/fields.ts', './page-routes.js', 'a file below the rooms knows one above them'],
    ['src/adapters/node/message.ts', '../hono/app.js', 'the adapter of node knows a framework of another room'],
    ['src/adapters/adapter.ts', './node/message.js', 'the contract knows an adapter'],
    ['src/http/router.ts', './openapi/document.js', 'the router knows the document'],
    ['src/store/rows.ts', './sql/users.js', 'a port knows a store'],
    ['src/store/sql/users.ts', '../datastore/users.js', 'a store knows another'],
    ['src/store/sql/engine/steps.ts', '../users.js', 'the engine knows a noun'],
    ['src/store/datastore/engine/steps.ts', '../users.js', 'the other engine knows a noun'],
    ['src/store/sql/engine/steps.ts', '../migrations/list.js', 'the engine knows the migrations'],
    ['src/host/documents/find.ts', '../runner/start.js', 'documents know the child'],
    ['src/host/ports.ts', './runner/main.js', 'the ports know the child'],
    ['src/host/runner/hop.ts', '../front/front.js', 'the child knows the front'],
  ])('%s that imports %s is a fault: %s', (path, specifier) => {
    const target = join(path, '..', specifier).replace(/\.js$/, '.ts')
    const files = { [target]: '', [path]: '' }
    expect(roomFaults(house(files))).toEqual([])
    const upward = [`${path}:1 may not import ${target}: it runs upward`]
    expect(roomFaults(house({ ...files, [path]: `import '${specifier}'` }))).toEqual(upward)
    expect(roomFaults(house({ ...files, [path]: `import type { T } from '${specifier}'` }))).toEqual(upward)
  })

  test('imports down, within a room and between files on one side of the rooms are no fault', () => {
    const files = {
      'src/flows/oauth/finish.ts': "import '../password/login.js'",
      'src/flows/password/login.ts': "import './policy.js'\nimport '../steps/audit.js'",
      'src/flows/password/policy.ts': '',
      'src/flows/steps/audit.ts': "import type { Route } from '../../routes/fields.js'",
      'src/routes/index.ts': "import './page-routes.js'",
      'src/routes/page-routes.ts': "import './password/login.js'",
      'src/routes/password/login.ts': "import '../session/answer.js'\nimport '../fields.js'",
      'src/routes/session/answer.ts': "import '../fields.js'",
      'src/routes/fields.ts': "import './schemas.js'",
      'src/routes/schemas.ts': '',
      'src/store/users.ts': '',
      'src/store/sql/users.ts': "import '../users.js'\nimport './emails.js'\nimport './engine/steps.js'",
      'src/store/sql/emails.ts': '',
      'src/store/sql/engine/steps.ts': '',
    }
    expect(roomFaults(house(files))).toEqual([])
  })

  test('a room without a place, and rooms without an order, are faults', () => {
    expect(roomFaults(house({ 'src/flows/new-room/thing.ts': '' }))).toEqual([
      'src/flows/new-room/thing.ts: the room new-room has no place in src/flows',
    ])
    expect(roomFaults(house({ 'src/mail/smtp/send.ts': '' }))).toEqual(['src/mail has rooms without an order'])
  })

  test('no import runs in a circle', () => {
    expect(cycleFaults(sources)).toEqual([])
  })

  test.each([
    ["import { b } from './b.js'"],
    ["import type { B } from './b.js'"],
    ["type B = import('./b.js').B"],
    ["const load = () => import('./b.js')"],
  ])('«%s» closes a circle of two, and one of three', (text) => {
    const pair = house({ 'src/lib/a.ts': text, 'src/lib/b.ts': "import type { A } from './a.js'" })
    expect(cycleFaults(pair)).toEqual(['src/lib/a.ts → src/lib/b.ts → src/lib/a.ts'])
    const three = { 'src/lib/b.ts': "import './c.js'", 'src/lib/c.ts': "import './a.js'" }
    expect(cycleFaults(house({ 'src/lib/a.ts': text, ...three }))).toHaveLength(1)
    expect(cycleFaults(house({ 'src/lib/a.ts': '', ...three }))).toEqual([])
  })
})

describe('packages', () => {
  test('every npm package has one owner', () => {
    expect(ownerFaults(sources)).toEqual([])
  })

  test.each([
    ['src/tokens/jwt.ts', "import { sql } from 'kysely'"],
    ['src/store/users.ts', "import type { Kysely } from 'kysely'"],
    ['src/mail/mailer.ts', "const load = () => import('handlebars')"],
    ['src/auth.ts', "const load = () => createRequire(import.meta.url)('better-sqlite3')"],
    ['src/http/router.ts', "import { z } from 'zod'"],
    ['src/lib/url.ts', "import isOdd from 'is-odd'"],
    ['src/host/documents/mingo.ts', "import { Query } from 'mingo'"],
    ['src/host/runner/start.ts', "import type { Query } from 'mingo'"],
    ['src/flows/password/login.ts', "import { randomUUID } from 'node:crypto'"],
  ])('%s with «%s» is a fault', (path, text) => {
    expect(ownerFaults(house({ [path]: text }))).toHaveLength(1)
  })

  test('importing the package, its test kit or the door of the host loads nothing heavy', () => {
    expect(weightFaults(sources)).toEqual([])
    expect(weightFaults(sources, 'src/host/create-host.ts')).toEqual([])
    expect(weightFaults(sources, 'src/testing.ts')).toEqual([])
  })

  test('starting the command-line tool loads commander and nothing else that is heavy', () => {
    expect(weightFaults(sources, 'src/cli/main.ts', ['commander'])).toEqual([])
    expect(weightFaults(sources, 'src/cli/main.ts')).not.toEqual([])
  })

  test('a heavy package behind two static imports is a fault, behind a lazy one it is none', () => {
    const files = (auth: string) => ({
      'src/index.ts': "export { init } from './init.js'",
      'src/init.ts': "import { createAuth } from './auth.js'",
      'src/auth.ts': auth,
      'src/store/sql/engine/connect.ts': "import { Kysely } from 'kysely'",
    })
    expect(weightFaults(house(files("import { connect } from './store/sql/engine/connect.js'")))).toHaveLength(1)
    expect(weightFaults(house(files("const connect = () => import('./store/sql/engine/connect.js')")))).toEqual([])
  })
})

describe('sizes', () => {
  test('files and functions stay small', () => {
    expect(sizeFaults(sources, exceptions)).toEqual([])
  })

  test.each([
    ['src/lib/url.ts', 'const a = 1\n'.repeat(301)],
    ['src/lib/url.ts', `function long() {\n${'  go()\n'.repeat(59)}}\n`],
    ['src/lib/url.ts', `const long = () => {\n${'  go()\n'.repeat(59)}}\n`],
    ['src/lib/url.ts', `class Long {\n  go() {\n${'    go()\n'.repeat(59)}  }\n}\n`],
  ])('%s that is one line too long is a fault', (path, text) => {
    expect(sizeFaults(house({ [path]: text }))).toHaveLength(1)
    expect(sizeFaults(house({ [path]: text.replace('const a = 1\n', '').replace(/ +go\(\)\n/, '') }))).toEqual([])
  })

  test.each([
    `function table() {\n  return {\n${'    a: 1,\n'.repeat(70)}  }\n}\n`,
    `function table() {\n  return object({\n${'    a: 1,\n'.repeat(70)}  })\n}\n`,
    `const table = () => [\n${'  1,\n'.repeat(70)}]\n`,
  ])('a function that returns a table of data may be longer', (text) => {
    expect(sizeFaults(house({ 'src/lib/url.ts': text }))).toEqual([])
  })
})

describe('habits', () => {
  test('nothing is exported by default, by star or second-hand', () => {
    expect(exportFaults(sources)).toEqual([])
  })

  test.each([
    ['src/lib/url.ts', 'export default function parse() {}'],
    ['src/lib/url.ts', 'const a = 1\nexport default a'],
    ['src/lib/url.ts', 'const a = 1\nexport { a as default }'],
    ['src/index.ts', "export * from './init.js'"],
    ['src/store/store.ts', "export { users } from './users.js'"],
  ])('%s with «%s» is a fault', (path, text) => {
    expect(exportFaults(house({ [path]: text }))).toHaveLength(1)
  })

  test('any, ! and as stay outside, but for the parse functions listed here', () => {
    expect(typeFaults(sources, exceptions)).toEqual([])
  })

  test.each([
    'const a: any = 1',
    'const a = b!',
    'class A { b!: string }',
    'const a = b as string',
    'const a = <string>b',
    'function parse(a: unknown) { return a as string }',
  ])('«%s» is a fault', (text) => {
    expect(typeFaults(house({ 'src/lib/url.ts': text }))).toHaveLength(1)
  })

  test('as const and a listed parse function that says Boundary are no fault, one that says or needs nothing is', () => {
    const listed: Exceptions = { boundaries: ['src/lib/url.ts#parse'] }
    const needed =
      'const a = [1] as const\n/** Boundary: b. */\nfunction parse(b: unknown) { return [b].map((c) => c as string) }'
    expect(typeFaults(house({ 'src/lib/url.ts': needed }), listed)).toEqual([])
    expect(typeFaults(house({ 'src/lib/url.ts': needed.replace('Boundary', 'Reads') }), listed)).toHaveLength(1)
    expect(typeFaults(house({ 'src/lib/url.ts': 'const a = 1' }), listed)).toHaveLength(1)
  })

  test('clock, randomness and environment come from lib or not at all', () => {
    expect(worldFaults(sources)).toEqual([])
  })

  test.each([
    'Date.now()',
    'new Date()',
    'performance.now()',
    'Math.random()',
    'process.env.SECRET',
    'crypto.randomUUID()',
    'crypto.getRandomValues(a)',
    "import { randomBytes } from 'node:crypto'",
    'const { hrtime } = process',
  ])('«%s» in a flow is a fault', (text) => {
    expect(worldFaults(house({ 'src/flows/password/login.ts': text }))).toHaveLength(1)
  })

  test('the environment is read in one file of the command-line tool', () => {
    expect(worldFaults(house({ 'src/cli/environment.ts': 'const variables = process.env' }))).toEqual([])
    expect(worldFaults(house({ 'src/cli/output.ts': 'const variables = process.env' }))).toHaveLength(1)
  })

  test('lib may read the clock and draw bytes, but neither the environment nor Math.random', () => {
    const inLib = (text: string) => worldFaults(house({ 'src/lib/random.ts': text }))
    expect(inLib('Date.now()\nrandomBytes(16)\nnew Date()')).toEqual([])
    expect(inLib('Math.random()')).toHaveLength(1)
    expect(inLib('process.env.SECRET')).toHaveLength(1)
  })

  test('nobody imports node:process, which opens standard input', () => {
    for (const path of ['src/lib/random.ts', 'src/flows/password/login.ts']) {
      expect(worldFaults(house({ [path]: "import { pid } from 'node:process'" }))).toHaveLength(1)
    }
  })

  test('modules keep no state', () => {
    expect(stateFaults(sources)).toEqual([])
  })

  test.each([
    'let settings = null',
    'export var count = 0',
    'const cache = new Map()',
    'const seen: string[] = []',
    'const store = {}',
    'const cache = new LRUCache({ max: 10 })',
  ])('«%s» at the top of a module is a fault', (text) => {
    expect(stateFaults(house({ 'src/lib/url.ts': text }))).toHaveLength(1)
    expect(stateFaults(house({ 'src/lib/url.ts': `function make() { ${text.replace('export ', '')} }` }))).toEqual([])
  })

  test('a table at the top of a module is no state', () => {
    const table = "const ports = new Map([['http', 80]])\nconst names = new Set(list.split(' '))\nconst none = [1]"
    expect(stateFaults(house({ 'src/lib/url.ts': table }))).toEqual([])
  })
})

describe('names', () => {
  test('no file is called utils, helpers, manager, service, data or info', () => {
    expect(nameFaults(tracked)).toEqual([])
  })

  test.each([
    'src/lib/utils.ts',
    'src/helpers/url.ts',
    'src/token-manager.ts',
    'test/support/data.ts',
    'src/user-info.ts',
  ])('%s is a fault', (path) => {
    expect(nameFaults([path])).toHaveLength(1)
  })

  test('a name that only begins like a banned one is none', () => {
    expect(nameFaults(['src/store/datastore/users.ts', 'src/store/sql/database.ts'])).toEqual([])
  })

  test('the old vocabulary is gone from files and identifiers', () => {
    expect(oldNameFaults(sources)).toEqual([])
    expect(idleNameExceptions(sources)).toEqual([])
  })

  test.each([
    ['src/mail/lanes.ts', ''],
    ['src/client/news.ts', ''],
    ['src/guard/told/list.ts', ''],
    ['src/lib/url.ts', 'const inTurn = 1'],
    ['src/lib/url.ts', 'const TURNS_AFTER_TIMER = 1'],
    ['src/lib/url.ts', 'interface Laned { ownLane: number }'],
    ['src/lib/url.ts', 'class A { #told = 1 }'],
    ['src/lib/url.ts', 'function tellOf() {}'],
    ['src/lib/url.ts', 'const { newsAgeMs } = fresh'],
    ['src/lib/url.ts', 'const wish = 1'],
    ['src/lib/url.ts', 'type WasSaid = 1'],
    ['src/lib/url.ts', 'const planted = 1'],
    ['src/lib/url.ts', "import { unlessRefused } from './refused.js'"],
    ['src/lib/url.ts', "import { createOwnWord } from './hook.js'"],
    ['src/store/datastore/engine/unit.ts', 'const turn = 1'],
  ])('%s with «%s» is a fault', (path, text) => {
    expect(oldNameFaults(house({ [path]: text }))).toHaveLength(1)
  })

  test('words that only contain an old one, verbs of two-factor authentication and the stored field are no fault', () => {
    const text = "const planes = 'told', returns = 1, newsletter = 2, aside = 3 // nobody"
    expect(oldNameFaults(house({ 'src/lib/url.ts': text }))).toEqual([])
    expect(oldNameFaults(house({ 'src/flows/two-factor/turn-off.ts': 'const turnOff = 1, turnOn = 2' }))).toEqual([])
    expect(oldNameFaults(house({ 'src/store/datastore/engine/queue.ts': 'record.turn' }))).toEqual([])
  })

  test('the repository begins with these and nothing else', () => {
    const names = new Set(tracked.map((path) => path.split('/')[0] ?? '').filter((name) => !name.startsWith('.')))
    expect([...names].filter((name) => !topLevel.includes(name))).toEqual([])
  })

  test('tests are sentences about behaviour, none narrowed or put off', () => {
    const paths = tracked.filter((path) => /^test\/.*\.ts$/.test(path) && existsSync(join(root, path)))
    const tests = paths.map((path) => parse(path, readFileSync(join(root, path), 'utf8')))
    expect(tests.length).toBeGreaterThan(0)
    expect(titleFaults(tests)).toEqual([])
  })

  test.each([
    "test('it should work', () => {})",
    "test.each([1])('should add %i', () => {})",
    "test.only('works', () => {})",
    "it.skip('works', () => {})",
    "describe.todo('works')",
  ])('«%s» is a fault', (text) => {
    expect(titleFaults(house({ 'test/lib/url.test.ts': text }))).toHaveLength(1)
  })
})
