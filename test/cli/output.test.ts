import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.js'
import { nearest } from '../../src/cli/nearest.js'
import { aligned } from '../../src/cli/output.js'
import { printable, printableJson } from '../../src/cli/printable.js'
import { exitCodeOf, toToolError } from '../../src/cli/tool-error.js'
import { AuthError, SettingsError } from '../../src/errors.js'
import { startControlServer } from '../support/control-server.js'
import { openDesk } from '../support/tool.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

describe('texts', () => {
  test.each([
    ['\u001b[31m', '\\x1b[31m'],
    ['a\tb\r\nc', 'a\\x09b\\x0d\\x0ac'],
    ['\u009b\u007f\0', '\\x9b\\x7f\\x00'],
    ['\u202e\u2066\ufeff\u2028', '\\u{202e}\\u{2066}\\u{feff}\\u{2028}'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800', '\\u{d800}'],
    ['Zoë 👩\u200d💻 日本', 'Zoë 👩\u200d💻 日本'],
  ])('ATK-120 %j is printed as %s', (text, printed) => {
    expect(printable(text)).toBe(printed)
  })

  test('ATK-120 JSON has no unprintable character, and parses to the same value', () => {
    const value = { 'k\u009b': ['\u001b\u202e\u{e0041}\ud800\u2028', 'é👩'] }
    const text = printableJson(value, 2)
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}]/u)
    expect(JSON.parse(text)).toEqual(value)
  })

  test('rows are aligned by characters, without blanks at the end', () => {
    expect(
      aligned([
        ['ID', 'NAME', 'X'],
        ['1', '👩👩👩', ''],
        ['22', 'b', 'y'],
      ]),
    ).toEqual(['ID  NAME  X', '1   👩👩👩', '22  b     y'])
  })

  test.each([
    ['shwo', 'show'],
    ['tokn', null],
    ['creat', 'create'],
    ['xyz', null],
  ])('nearest to %s is %s', (typed, name) => {
    expect(nearest(typed, ['show', 'create', 'enable'])).toBe(name)
  })
})

describe('exit codes', () => {
  test.each([
    [400, 'invalid_request', 1],
    [401, 'unauthenticated', 3],
    [403, 'forbidden', 3],
    [403, 'csrf_rejected', 1],
    [404, 'not_found', 1],
    [409, 'would_lock_out', 1],
    [429, 'rate_limited', 1],
    [500, 'internal_error', 1],
    [501, 'not_here', 4],
    [503, 'store_unavailable', 5],
  ])('%i %s is %i', (status, code, exitCode) => {
    expect(exitCodeOf(status, code)).toBe(exitCode)
  })

  test('an AuthError keeps its code, a SettingsError is usage, any other error is 1 without its stack', () => {
    expect(toToolError(new AuthError('not_found'))).toMatchObject({ exitCode: 1, code: 'not_found' })
    const faults = [{ setting: 'baseUrl', message: 'is required' }]
    expect(toToolError(new SettingsError(faults))).toMatchObject({
      exitCode: 2,
      details: { lines: [expect.anything()] },
    })
    expect(toToolError(new Error('disk is full'))).toMatchObject({ exitCode: 1, message: 'disk is full' })
  })
})

describe('colours', () => {
  const colour = '\u001b[1mID'

  test('a terminal gets them, unless NO_COLOR, TERM=dumb or CI is set', async () => {
    const [desk, server] = await Promise.all([openDesk(), startControlServer()])
    await desk.signIn(server.api)
    const screen = async (env: Readonly<Record<string, string>>) =>
      (await desk.type(['--url', server.url, 'tokens'], [], env)).screen
    expect(await screen({})).toContain(colour)
    expect(await screen({ CI: 'false' })).toContain(colour)
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: 'true' }, { NO_COLOR: '1', FORCE_COLOR: '1' }])
      expect(await screen(env)).not.toContain('\u001b')
    expect(await screen({ CI: 'true', FORCE_COLOR: '1' })).toContain(colour)
  })

  test('a pipe gets none, unless FORCE_COLOR is set', async () => {
    const [desk, server] = await Promise.all([openDesk(), startControlServer()])
    await desk.signIn(server.api)
    const printed = async (env: Readonly<Record<string, string>>) =>
      (await desk.run(['--url', server.url, 'tokens'], { env })).stdout
    expect(await printed({})).not.toContain('\u001b')
    expect(await printed({ FORCE_COLOR: '0' })).not.toContain('\u001b')
    expect(await printed({ FORCE_COLOR: '1' })).toContain(colour)
  })
})

describe('the command line', () => {
  test('the summaries of the commands are sentences of one style', async () => {
    const { stdout } = await (await openDesk()).run(['--help'])
    const [, listed = ''] = stdout.split('\nCommands:\n')
    const summaries = [...listed.matchAll(/^ {2}\S.*? {2,}(\S.*)$/gm)].map(([, summary = '']) => summary)
    expect(summaries.length).toBeGreaterThan(10)
    expect(summaries.filter((summary) => !/^[A-Z]/.test(summary))).toEqual([])
  })

  test.each(commands.map(([name]) => name))(
    '%s prints help: one sentence, usage, options and an example',
    async (name) => {
      const desk = await openDesk()
      const { code, stdout, stderr } = await desk.run([...name.split(' '), '-h'])
      expect(stdout).toMatch(new RegExp(`^Usage: latchkey ${name} .*\\n\\n[A-Z][^\\n]+\\.\\n`))
      expect(stdout).toContain('\nOptions:\n')
      expect(stdout).toMatch(new RegExp(`\\nExample:\\n  latchkey ${name}`))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    },
  )

  test.each([
    [['tokns'], "unknown command 'tokns'", 'Did you mean tokens?'],
    [['users', 'shwo', 'ann@example.org'], "unknown command 'latchkey users shwo'", "'latchkey users show'"],
    [['audit', 'verfy'], "unknown command 'latchkey audit verfy'", "'latchkey audit verify'"],
    [['add-token', '--readonley'], "unknown option '--readonley'", 'Did you mean --readonly?'],
    [['remove-token'], "missing required argument 'id'", ''],
    [['tokens', 'extra'], 'too many arguments', '--help'],
    [['export', 'users', 'extra'], 'too many arguments', '--help'],
    [['users', '--limit', '0'], '--limit takes a number from 1 to 200', ''],
  ])('%j is exit 2: %s', async (args, message, hint) => {
    const desk = await openDesk()
    const { code, stdout, stderr } = await desk.run(args)
    expect(stderr).toContain(`error: ${message}`)
    expect(stderr).toContain(hint)
    expect(stderr).not.toMatch(/^ +at /m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('secret prints two lines for .env that init accepts, new ones each time', async () => {
    const desk = await openDesk()
    const { stdout } = await desk.run(['secret'])
    const line = /^JWT_ACCESS_TOKEN_SECRET=[\w-]{64}\nJWT_REFRESH_TOKEN_SECRET=[\w-]{64}\n$/
    expect(stdout).toMatch(line)
    const secrets = stdout.match(/(?<==).+/g) ?? []
    expect(new Set([...secrets, ...((await desk.run(['secret'])).stdout.match(/(?<==).+/g) ?? [])]).size).toBe(4)
  })

  test('a reader that closes early is no failure, a full disk is one', async () => {
    const shell = (line: string) => run('bash', ['-c', line], { cwd: root })
    await shell('set -o pipefail; node dist/cli.js --help | head -c 1')
    await expect(shell('node dist/cli.js secret > /dev/full')).rejects.toMatchObject({ code: 1 })
  })

  test('--version prints the version of the package', async () => {
    const desk = await openDesk()
    const { version } = JSON.parse(
      (await run('node', ['-p', 'JSON.stringify(require("./package.json"))'], { cwd: root })).stdout,
    )
    expect(await desk.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('secrets of the command line are not in the list of processes while it runs', async () => {
    const [desk, server] = await Promise.all([openDesk(), startControlServer()])
    let listed = ''
    server.answer('POST /auth/login', async () => {
      listed = (await run('ps', ['-eo', 'args'])).stdout
      return { status: 204 }
    })
    await desk.run(['login', server.url, '--password', 'brass-and-steam', '--email', 'ann@example.org'])
    expect(listed).toContain('latchkey')
    expect(listed).not.toContain('brass-and-steam')
  })
})

describe('loading', () => {
  /** The files that a program has loaded, from the tracing of the module loader. */
  async function loaded(script: string): Promise<string[]> {
    const trace = { ...process.env, NODE_DEBUG: 'esm,module' }
    const { stderr } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      env: trace,
      maxBuffer: 64 * 1024 * 1024,
    })
    return stderr.split('\n')
  }

  /** The modules in the files of the build that were loaded. Above each, the bundler writes its name. */
  function modulesOf(lines: readonly string[]): string[] {
    const files = new Set(lines.flatMap((line) => /dist\/[\w-]+\.js/.exec(line)?.[0] ?? []))
    const texts = [...files].map((file) => readFileSync(join(root, file), 'utf8'))
    return texts.flatMap((text) => [...text.matchAll(/^\/\/ \.build\/(.*)$/gm)].map(([, module = '']) => module))
  }

  test("import 'latchkey' loads no file of the tool and neither package", async () => {
    const lines = await loaded("await import('./dist/index.js')")
    expect(modulesOf(lines)).toContain('init.js')
    expect(modulesOf(lines).filter((module) => module.startsWith('cli/'))).toEqual([])
    expect(lines.filter((line) => /commander|@clack/.test(line))).toEqual([])
  })

  test('--version loads no command, nothing of remote mode, and neither clack nor zod', async () => {
    const lines = await loaded("process.argv = ['node', 'latchkey', '--version']; await import('./dist/cli.js')")
    expect(lines.some((line) => line.includes('commander'))).toBe(true)
    expect(lines.filter((line) => /@clack|zod/.test(line))).toEqual([])
    const ofOthers = /^(index\.js|wiring\/|cli\/remote\/|cli\/commands\/[\w-]+\/)/
    expect(modulesOf(lines).filter((module) => ofOthers.test(module))).toEqual([])
  })
})
