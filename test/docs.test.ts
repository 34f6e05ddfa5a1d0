import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { AuthError, type ErrorCode, errorTable } from '../src/errors.js'
import { passkeyChallengeSeconds } from '../src/flows/passkeys/challenge.js'
import { registrationPlaces } from '../src/flows/registration/draft.js'
import { challengeSeconds, challengesAtOnce } from '../src/flows/session/two-factor-challenge.js'
import { backupCodes } from '../src/flows/two-factor/backup-codes.js'
import { enrolmentSeconds } from '../src/flows/two-factor/enrolment.js'
import { factorTries } from '../src/flows/two-factor/second-factor.js'
import { claimingHeaders } from '../src/guard/forwarded-headers.js'
import { createHostPieces } from '../src/host/host-pieces.js'
import { hostSchema } from '../src/host/settings/host-settings.js'
import { bodyLimitBytes, deepestBody, mostFields, mostValues } from '../src/http/body.js'
import { problem } from '../src/http/problem.js'
import { parseDuration } from '../src/lib/duration.js'
import { createWorld } from '../src/lib/runtime.js'
import { policiesOf } from '../src/limits/policies.js'
import { auditEventNames } from '../src/model/audit-event.js'
import type { CounterRule } from '../src/model/counter.js'
import { checkRows } from '../src/model/doctor/checks.js'
import { hostCheckRows } from '../src/model/doctor/host-checks.js'
import { providerKinds } from '../src/oauth/providers.js'
import { longestPassword } from '../src/passwords/passwords.js'
import { controlRoutes } from '../src/routes/admin/index.js'
import { adminPageRoutes } from '../src/routes/admin/pages/index.js'
import { routes } from '../src/routes/index.js'
import { createSettingsSchema } from '../src/settings/schema.js'
import { stepPatienceMs } from '../src/store/sql/engine/retry.js'
import { migrations } from '../src/store/sql/migrations/list.js'
import { instruments, spans } from '../src/telemetry/instruments.js'
import { createTestClient, testSettings } from '../src/testing.js'
import { maxTokenLength } from '../src/tokens/jwt.js'
import { policyOf } from '../src/wiring/policy.js'
import { readSettings, type SettingsInput } from '../src/wiring/settings.js'
import { strictFaults } from './support/application-folder.js'
import { attackServer } from './support/attack-server.js'
import { mainJob } from './support/journey.js'
import { mapFaults } from './support/map.js'
import { freePort, startProgram } from './support/program.js'
import { blocksOf, bodyOf, codeBelow, settingsOf, tableBelow } from './support/readme.js'
import { testBrowser } from './support/tabs.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = join(root, 'README.md')
/** A page below docs/. */
const page = (name: string) => join(root, 'docs', `${name}.md`)
const map = join(root, 'src/README.md')
const noNetwork = new URL('support/no-network.js', import.meta.url).href

const { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET } = testSettings()
const required: SettingsInput = { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, baseUrl: 'http://localhost:3000' }
const defaults = readSettings(required, createWorld())

const imported = {
  settings: {
    ...required,
    database: 'sqlite:./import.db',
    mail: { from: 'auth@example.com', transport: 'smtp://127.0.0.1:9' },
  },
  users: [
    {
      email: 'ada@example.com',
      name: 'Ada',
      passwordHash: '$2b$10$abcdefghijklmnopqrstuuGGgFFcYeueaAql8Z7U7CnCTRw4DR77W',
      emailVerified: true,
    },
    { email: 'Ada@example.com', name: null, passwordHash: null },
    { email: 'edsger@example.com', passwordHash: 'd0763edaa9d9bd2a9516280e9044d885' },
  ],
  signIn: `import { createAuth } from 'latchkey'
    import { settings } from './settings.js'
    const auth = createAuth({ ...settings, logger: { warn() {}, error() {} } })
    const headers = { 'content-type': 'application/json', origin: settings.baseUrl }
    const body = JSON.stringify({ email: 'ada@example.com', password: 'correct horse battery staple' })
    const request = new Request(settings.baseUrl + '/auth/login', { method: 'POST', headers, body })
    console.log((await auth.fetch(request)).status)
    await auth.close()`,
}

describe('the example of the README', () => {
  const code = codeBelow(readme, 'Start', 'js')

  test('has ten lines', () => {
    const lines = code.split('\n').filter((line) => line.trim() !== '')
    expect(lines.length).toBeLessThanOrEqual(11)
  })

  test('does the main job as it stands there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-readme-'))
    const port = await freePort()
    await install(folder, {
      latchkey: root,
      express: dependency('express'),
      'better-sqlite3': dependency('better-sqlite3'),
    })
    // What `npm init -y` writes; the name that README gives the file must do in it.
    await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
    const [, file = ''] = /^node (\S+)$/m.exec(codeBelow(readme, 'Start', 'sh')) ?? []
    await writeFile(join(folder, file), code.replaceAll('3000', String(port)))
    // As it stands there it asks a public API about new passwords; without a network it must go on all the same.
    const program = startProgram('node', ['--import', noNetwork, file], { cwd: folder, env: secrets() })
    try {
      await mainJob(program, `http://localhost:${port}`, '/api/hello')
      const page = await createTestClient(`http://localhost:${port}`).open('/api/hello')
      expect([page.status, page.body]).toEqual([200, expect.stringContaining('name="password"')])
    } finally {
      await program.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)

  test('as it stands, and that in TypeScript, compile strictly with both ways of finding modules', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-readme-'))
    try {
      const packages = ['express', 'fastify', 'hono', '@types/express', '@types/node']
      await mkdir(join(folder, 'node_modules', '@types'), { recursive: true })
      for (const name of packages) await symlink(dependency(name), join(folder, 'node_modules', name))
      await symlink(root, join(folder, 'node_modules', 'latchkey'))
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
      for (const typed of [code, codeBelow(page('guides/typescript'), 'Read the principal', 'ts')]) {
        await writeFile(join(folder, 'app.ts'), typed)
        expect(strictFaults(folder, ['app.ts'], { module: ts.ModuleKind.NodeNext })).toEqual([])
        const bundler = ts.ModuleResolutionKind.Bundler
        expect(strictFaults(folder, ['app.ts'], { module: ts.ModuleKind.ESNext, moduleResolution: bundler })).toEqual(
          [],
        )
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)

  test('of an import reads a file, prints what became of it, and lets the users in', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-readme-'))
    try {
      await install(folder, { latchkey: root, 'better-sqlite3': dependency('better-sqlite3') })
      await writeFile(join(folder, 'settings.js'), `export const settings = ${JSON.stringify(imported.settings)}`)
      await writeFile(join(folder, 'users.json'), JSON.stringify(imported.users))
      await writeFile(join(folder, 'import.js'), codeBelow(page('operate/moving'), 'Import', 'js'))
      const { stdout } = await promisify(execFile)(process.execPath, ['import.js'], { cwd: folder })
      expect(stdout).toBe('1 created, 1 skipped\nedsger@example.com hash_unsupported passwordHash\n')

      await writeFile(join(folder, 'sign-in.js'), imported.signIn)
      const later = await promisify(execFile)(process.execPath, ['sign-in.js'], { cwd: folder })
      expect(later.stdout).toBe('200\n')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)

  test('of the browser client gets the answers that stand behind its calls', async () => {
    const server = await attackServer({ before: (app) => void app.get('/api/notes', (_req, res) => void res.json([])) })
    try {
      const code = codeBelow(page('guides/browser'), 'Use the client', 'js')
      const body = code.replace(/^import .*$/m, '').replace('const response =', 'return')
      const { auth, mailbox } = { auth: testBrowser(server).open().auth, mailbox: server.mailbox }
      const createAuthClient = () => ({
        ...auth,
        verifyEmail: async ({ email }: { email: string }) =>
          auth.verifyEmail({ email, code: mailbox.code(await mailbox.waitFor(email)) }),
      })
      const names = ['createAuthClient', 'email', 'password', 'code', `return (async () => {${body}})()`]
      const run = new Function(...names)
      const answer: Response = await run(createAuthClient, 'ada@example.test', 'correct horse battery', '')
      expect([answer.status, await answer.json()]).toEqual([200, []])
      expect(auth.session.get()?.user.email).toBe('ada@example.test')
    } finally {
      await server.close()
    }
  })

  test('of API tokens prints what stands behind its lines', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-readme-'))
    const code = codeBelow(page('guides/api-tokens'), 'Create, rotate, remove', 'js')
    const said = [...code.matchAll(/^console\.log\(.*\) \/\/ (.+)$/gm)].map(([, printed]) => printed)
    expect(said).toHaveLength(3)
    try {
      await install(folder, { latchkey: root, 'better-sqlite3': dependency('better-sqlite3') })
      await writeFile(join(folder, 'settings.js'), `export const settings = ${JSON.stringify(imported.settings)}`)
      await writeFile(join(folder, 'tokens.js'), code)
      const { stdout } = await promisify(execFile)(process.execPath, ['tokens.js'], { cwd: folder })
      expect(stdout.trim().split('\n')).toEqual(said)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)

  test('of the test kit gets the answers that stand behind its calls', async () => {
    const call = /^const (\w+) = (await client\.get\(.*\)) \/\/ (.+)$/gm
    const code = codeBelow(page('guides/testing'), 'Test without a server', 'ts')
    const said = [...code.matchAll(call)].map(([, , , answer]) => answer)
    expect(said).toHaveLength(2)

    const folder = await mkdtemp(join(tmpdir(), 'latchkey-readme-'))
    try {
      await install(folder, { latchkey: root, 'better-sqlite3': dependency('better-sqlite3') })
      const print = "console.log([$1.status, $1.body.code].join(' ').trim())"
      await writeFile(
        join(folder, 'kit.js'),
        `${code.replaceAll(call, `const $1 = $2\n${print}`)}\nawait auth.close()\n`,
      )
      const { stdout } = await promisify(execFile)(process.execPath, ['kit.js'], { cwd: folder })
      expect(stdout.trim().split('\n')).toEqual(said)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 180_000)
})

describe('the settings of the docs', () => {
  const rows = tableBelow(page('reference/settings'), 'Settings')
  const known = settingsOf(createSettingsSchema(providerKinds))

  test('are those of the schema, each once', () => {
    expect(rows.map(([name]) => name).sort()).toEqual(known.map((setting) => setting.name).sort())
  })

  test.each(rows.map(([name = '', fallback = '']) => [name, fallback]))('%s: the default is %s', (name, fallback) => {
    const literal = known.find((setting) => setting.name === name)?.fallback
    if (literal) expect(fallback).toBe(literal)
    // Words: then there is no literal to be confused with, or it is worked out from other settings, as below.
    else expect(fallback).not.toBe('')
  })

  test('have the lifetimes and addresses that follow from each other', () => {
    const fallback = (name: string) => rows.find(([row]) => row === name)?.[1]
    expect(defaults.accessTokenSeconds).toBe(parseDuration(fallback('accessTokenLifetime')))
    expect(defaults.refreshTokenSeconds).toBe(parseDuration(fallback('refreshTokenLifetime')))
    expect(defaults.sessionSeconds).toBe(parseDuration(fallback('sessionLifetime')))
    expect(defaults.redirectFailUrl).toBe(fallback('redirectFailUrl'))
  })
})

test('the settings of the host in the docs are those of its schema, each once, with their defaults', () => {
  const told = tableBelow(page('host/settings'), 'Settings').map(([name, fallback]) => ({ name, fallback }))
  const known = settingsOf(hostSchema)
  expect(told.map(({ name }) => name)).toEqual(known.map(({ name }) => name))
  const literal = known.flatMap(({ name, fallback }) => (fallback === null ? [] : [{ name, fallback }]))
  expect(literal.length).toBeGreaterThan(20)
  expect(told).toEqual(expect.arrayContaining(literal))
})

test('the providers of the docs are those of the code', () => {
  const names = tableBelow(page('guides/oauth'), 'Providers').map(([name]) => name)
  expect(names).toEqual([...Object.keys(providerKinds.further), 'any other'])
})

test('the migrations on their page are those of the code, in its order', () => {
  const names = tableBelow(page('operate/migrations'), 'List').map(([name]) => name)
  expect(names).toEqual(Object.keys(migrations))
})

test('the routes of the docs are those of the route table, in its order', () => {
  const own = routes.filter(({ control }) => !control)
  const rows = own.map(({ method, path, aliases, body, summary }) => {
    const also = aliases ? ` (alias ${aliases.join(', ')})` : ''
    return [`${method} ${path}${also}`, bodyOf(body), summary]
  })
  expect(tableBelow(page('reference/routes'), 'Routes')).toEqual(rows)
})

test('the control API of the docs is that of its table, in its order', () => {
  const rows = controlRoutes.map(({ method, path, control, body, summary }) => {
    const { who, recent, confirm } = control ?? { who: 'open', recent: false, confirm: false }
    const asks = [recent ? 'recent' : '', confirm ? `confirm ${confirm === true ? '' : confirm}`.trim() : '']
      .filter(Boolean)
      .join(', ')
    return [`${method} ${path.slice('/admin/api'.length) || '/'}`, who, asks, bodyOf(body), summary]
  })
  expect(tableBelow(page('reference/control-api'), 'Routes')).toEqual(rows)
})

test('the routes of the host in the docs are those of its table, in its order', () => {
  const own = createHostPieces().routes.filter(({ control }) => control && !control.page)
  const rows = own.map(({ method, path, control, body, summary }) => {
    const { who = '', recent = false, confirm = false, command = '' } = control ?? {}
    const asks = [recent ? 'recent' : '', confirm ? 'confirm' : ''].filter(Boolean).join(', ')
    const place = (control?.home === 'space' ? '/spaces/:space' : '') + path.slice('/admin/api'.length)
    return [`${method} ${place || '/'}`, who, command ?? '', asks, bodyOf(body), summary].map((cell) =>
      cell.replaceAll('`', ''),
    )
  })
  expect(tableBelow(page('reference/control-api'), 'Routes of a space host')).toEqual(rows)
})

test('the admin pages of the docs are those of their table, in its order', () => {
  const rows = adminPageRoutes.map(({ path, summary }) => [path.slice('/admin'.length) || '/', summary])
  expect(tableBelow(page('reference/control-api'), 'Pages')).toEqual(rows)
})

test('the pages of the host in the docs are those of its table, in its order', () => {
  const rows = createHostPieces().routes.flatMap(({ path, control, summary }) => {
    const place = (control?.home === 'space' ? '/spaces/:space' : '') + path.slice('/admin'.length)
    return control?.page ? [[place, control.who, summary].map((cell) => cell.replaceAll('`', ''))] : []
  })
  expect(tableBelow(page('reference/control-api'), 'Pages of a space host')).toEqual(rows)
})

test.each([
  ['Checks', checkRows],
  ['Checks of a space host', hostCheckRows],
] as const)('the table %s of the docs is that of doctor, in its order', (heading, checks) => {
  const rows = Object.entries(checks).map(([code, { where, level, cause, cure }]) => {
    return [code, where.join(' '), level, cause, cure].map((cell) => cell.replaceAll('`', ''))
  })
  expect(tableBelow(page('operate/doctor'), heading)).toEqual(rows)
})

describe('the errors of the docs', () => {
  test('are those of the table, in its order', () => {
    const rows = Object.entries(errorTable).map(([code, [status, sentence]]) => [String(status), code, sentence])
    expect(tableBelow(page('reference/errors'), 'Errors')).toEqual(rows)
  })

  test('are each a heading of one troubleshooting page, in their order, which the `type` of their answer names', () => {
    const codes = Object.keys(errorTable).filter((code): code is ErrorCode => Object.hasOwn(errorTable, code))
    const pages = ['operate/troubleshooting', 'operate/troubleshooting-host'].map((name) =>
      anchorsOf(page(name)).filter((heading) => Object.hasOwn(errorTable, heading)),
    )
    expect(pages.flat().toSorted()).toEqual(codes.toSorted())
    for (const headings of pages) expect(headings).toEqual(codes.filter((code) => headings.includes(code)))
    const types = codes.map((code) => JSON.parse(String(problem(new AuthError(code), 'id').body)).type)
    expect(types).toEqual(codes.map((code) => `urn:latchkey:error:${code}`))
  })

  test('are all met somewhere: none belongs to what comes later', () => {
    const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    const files = names.filter((name) => name.endsWith('.ts') && name !== 'errors.ts')
    const code = files.map((name) => readFileSync(join(root, 'src', name), 'utf8')).join('\n')
    // Thrown, or handed on by a rule that names the fault; mentioning a code in a comment or a condition is neither.
    const answered = (name: string) => new RegExp(`(?:AuthError\\(|return (?:\\{ code: )?|\\? )'${name}'`).test(code)
    expect(Object.keys(errorTable).filter((name) => !answered(name))).toEqual([])
  })
})

describe('the names of the docs', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
  const audited: (string | undefined)[] = [...auditEventNames]

  const plain = (text: string) => text.replaceAll('`', '')

  test('of metrics are those of the code, in its order', () => {
    const rows = Object.entries(instruments).map(([name, { kind, unit, attributes, description }]) => {
      return [name, kind, unit, attributes.join(', '), plain(description)]
    })
    expect(tableBelow(page('reference/metrics'), 'Metrics')).toEqual(rows)
  })

  test('of spans are those of the code, in its order', () => {
    const rows = Object.entries(spans).map(([name, of]) => [name, of.attributes.join(', '), plain(of.description)])
    expect(tableBelow(page('reference/metrics'), 'Spans')).toEqual(rows)
  })

  test('of audit events are those of the code, in its order', () => {
    expect(audited.length).toBeGreaterThan(20)
    expect(tableBelow(page('reference/audit-events'), 'Audit events').map(([name]) => name)).toEqual(audited)
  })

  test('of log events are all that the code logs', () => {
    const named = sources.flatMap((text) => [...text.matchAll(/event: '(\w+)'/g)].map(([, name]) => name))
    // Said in the log and in the audit log.
    const both = sources.flatMap((text) =>
      [...text.matchAll(/const event = '(\w+)'\s+\S+logger\./g)].map(([, name]) => name),
    )
    const logged = new Set([...named.filter((name) => !audited.includes(name)), ...both])
    expect(tableBelow(page('reference/metrics'), 'Log').map(([name]) => name)).toEqual([...logged].sort())
  })
})

test('the limits of the docs are those of the code', () => {
  const { verificationSeconds, codeTries, maxSessions } = policyOf(defaults)
  const limits = [
    ['body of a request to an auth route', `${bodyLimitBytes / 1024} KiB`],
    [
      'fields of a body, values in total, levels of nesting',
      `${mostFields}, ${new Intl.NumberFormat('en').format(mostValues)}, ${deepestBody}`,
    ],
    ['password', `${longestPassword} characters, none cut off`],
    ['token in a header or body', `${maxTokenLength} characters`],
    ['registrations of one address that wait side by side', `${registrationPlaces.keep}`],
    ['lifetime of the link and code that confirm an address', `${verificationSeconds / 3600} h`],
    ['wrong tries until a mailed code is void', `${codeTries}`],
    ['wrong tries until the second step of a sign-in is void', `${factorTries}`],
    ['lifetime of the second step of a sign-in', `${challengeSeconds / 60} min`],
    ['second steps of one user that wait side by side, one a browser', `${challengesAtOnce}`],
    ['time to set up an authenticator app', `${enrolmentSeconds / 60} min`],
    ['backup codes', `${backupCodes}`],
    ['time to use a passkey after its options were asked for', `${passkeyChallengeSeconds / 60} min`],
    ['passkeys of one user', `${defaults.passkeys.max}`],
    ['sessions of one user', `${maxSessions}`],
    ['age of revocation data at which guarded requests get 503', `${defaults.revocation.stalenessSeconds} s`],
    ['wait for a locked SQLite file, without blocking others', `${stepPatienceMs / 1000} s, then 503`],
  ]
  expect(tableBelow(page('reference/limits'), 'Limits')).toEqual(limits)
})

test('the reasons for which mails fail, on the page on mail, are those of the code', () => {
  const files = readdirSync(join(root, 'src/mail')).map((name) => readFileSync(join(root, 'src/mail', name), 'utf8'))
  const given = files.flatMap((text) => [...text.matchAll(/MailFault\('(\w+)'|^ {2}E\w+: '(\w+)'|\?\? '(\w+)'/gm)])
  const codes = new Set(given.map(([, thrown, listed, other]) => thrown ?? listed ?? other))
  const named = tableBelow(page('deploy/mail'), 'Reasons').flatMap(([cell = '']) => cell.split(', '))
  expect(named.sort()).toEqual([...codes].sort())
})

test('the headers that the docs say are removed are those of the guard', () => {
  expect(tableBelow(page('reference/headers'), 'Headers that are removed').map(([name]) => name)).toEqual(
    claimingHeaders,
  )
})

const window = (seconds: number) => (seconds % 3600 === 0 ? `${seconds / 3600}h` : `${seconds / 60}m`)

test('the limits on requests and tries of the docs are the defaults of the settings', () => {
  if (defaults.limits === null) throw new Error('limits are on by default')
  const text = (limit: { count: number; windowSeconds: number } | null) =>
    limit === null ? '' : `${limit.count}/${window(limit.windowSeconds)}`
  const told = tableBelow(page('reference/limits'), 'Requests and tries').map(([kind, , ip, account]) => [
    kind,
    ip,
    account ?? '',
  ])
  expect(told).toEqual(
    Object.entries(defaults.limits).map(([kind, of]) => [kind, 'ip' in of ? text(of.ip) : '', text(of.account)]),
  )
})

test('the mail limits of the docs are those of the code', () => {
  if (defaults.limits === null) throw new Error('limits are on by default')
  const { device, network, total } = policiesOf(defaults.limits).mail
  const short = ({ limit, windowSeconds }: CounterRule) => `${limit}/${window(windowSeconds)}`
  const day = (rule: Pick<CounterRule, 'limit' | 'windowSeconds'> | undefined) =>
    rule && `${rule.limit}/${rule.windowSeconds / 86_400}d`
  const told = tableBelow(page('reference/limits'), 'Mails of one address').map(([, perWindow, perDay]) => [
    perWindow,
    perDay,
  ])
  expect(told).toEqual([
    [short(device), day(device.long)],
    [short(network), day(network.long)],
    ['', day(total)],
  ])
})

describe('the documents', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  )
  const papers = ['README.md', 'src/README.md', 'examples/README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  const documents = [...papers, ...pages.map((name) => `docs/${name}`)]

  test.each(documents)('%s links to what exists', (name) => {
    const text = readFileSync(join(root, name), 'utf8')
    const targets = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)/g)]
    for (const [, path = '', anchor] of targets) {
      const target = path === '' ? join(root, name) : join(root, name, '..', path)
      expect(existsSync(target), path).toBe(true)
      if (anchor) expect(anchorsOf(target)).toContain(anchor)
    }
  })

  test('have at most 300 lines a page, and 200 in the README', () => {
    const lines = (name: string) => readFileSync(join(root, name), 'utf8').split('\n').length
    expect(lines('README.md')).toBeLessThanOrEqual(200)
    expect(pages.filter((name) => lines(`docs/${name}`) > 300)).toEqual([])
  })

  test('are all reached from the index', () => {
    const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
    expect(pages.filter((name) => name !== 'README.md' && !index.includes(`(${name})`))).toEqual([])
  })

  test('have no code block that no test runs, unless it says that it is an excerpt', () => {
    const tests = ['docs', 'guides']
      .map((name) => readFileSync(join(root, 'test', `${name}.test.ts`), 'utf8'))
      .join('\n')
    // The page, heading and language that a test gives to `codeBelow`, or lists for it.
    const taken = tests.matchAll(/(codesBelow\(page\()?(readme|'guides\/[\w/-]+')\)?,\s*'([^']+)',\s*'(js|jsx|ts|sh)'/g)
    const calls = [...taken].map(([, all, of = '', ...rest]) => ({
      all,
      key: [of.replaceAll("'", ''), ...rest].join(' '),
    }))
    const run = calls.map(({ key }) => key)
    const guides = pages.filter((name) => name.startsWith('guides/')).map((name) => name.replace(/\.md$/, ''))
    const blocks = ['readme', ...guides].flatMap((name) =>
      blocksOf(name === 'readme' ? readme : page(name))
        .filter(({ language, excerpt }) => /^(js|ts|jsx|tsx|sh|bash|javascript|typescript)$/.test(language) && !excerpt)
        .map(({ heading, language }) => `${name} ${heading} ${language}`),
    )
    expect(run.length).toBeGreaterThan(10)
    expect(blocks.filter((block) => !run.includes(block))).toEqual([])
    expect(run.filter((block) => !blocks.includes(block))).toEqual([])
    const repeated = blocks.filter((block, index) => blocks.indexOf(block) !== index)
    expect(repeated.filter((block) => !calls.some(({ key, all }) => all && key === block))).toEqual([])
  })

  test('say npm run only where package.json has such a script', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const text = documents.map((name) => readFileSync(join(root, name), 'utf8')).join('\n')
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !Object.hasOwn(scripts, name ?? ''))).toEqual([])
  })
})

describe('the map of the source', () => {
  const text = readFileSync(map, 'utf8')

  test('is short, describes every room, and names only what exists', () => {
    expect(mapFaults(text, root)).toEqual([])
  })

  test.each([
    ['`flows/password/login.ts`', '`flows/password/logon.ts`', 'names flows/password/logon.ts, which is gone'],
    ['`flows/<room>/x.ts`', '`flaws/<room>/x.ts`', 'names flaws/<room>/x.ts, which is gone'],
    ['`docs/reference/routes.md`', '`docs/reference/paths.md`', 'names docs/reference/paths.md, which is gone'],
    ['`openSession()`', '`openSessions2()`', 'names openSessions2(), which is gone'],
    ['- **`mail/`**', '- The room', 'No paragraph is about mail'],
    ['`schemes/`', 'A room', 'No paragraph describes passwords/schemes'],
    ['`host/sealing/`', 'A room', 'No paragraph describes host/sealing'],
    ['`mail/outbox.ts`', 'a file', 'The paragraph about mail names no file of it to read first'],
    ['`mail/outbox.ts`', '`mail/outbox.ts`, `init.ts`, `auth.ts`, `ports.ts`', 'names 4 files'],
    [' auth.ts ', ' ', 'The picture lacks auth.ts'],
    [' auth.ts ', ' auth.ts wires/ ', 'The picture shows wires/, which is not in src'],
  ])('with «%s» as %j it is wrong: %s', (before, after, fault) => {
    expect(text).toContain(before)
    expect(mapFaults(text.replace(before, after), root)).toContainEqual(expect.stringContaining(fault))
  })

  test('with more than 180 lines it is too long', () => {
    expect(mapFaults(text + 'More.\n'.repeat(180), root)).toContainEqual(expect.stringContaining('It may have 180'))
  })
})

function secrets(): Record<string, string> {
  return {
    JWT_ACCESS_TOKEN_SECRET: String(JWT_ACCESS_TOKEN_SECRET),
    JWT_REFRESH_TOKEN_SECRET: String(JWT_REFRESH_TOKEN_SECRET),
  }
}

function dependency(name: string): string {
  return join(root, 'node_modules', name)
}

/** An application's folder with these packages in its node_modules. */
async function install(folder: string, packages: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await mkdir(join(folder, 'node_modules'))
  for (const [name, path] of Object.entries(packages)) await symlink(path, join(folder, 'node_modules', name))
}

/** Anchors of a Markdown file, as GitHub makes them. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').match(/^#+ .*$/gm) ?? []
  return headings.map((line) =>
    line
      .replace(/^#+ /, '')
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
