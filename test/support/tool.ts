import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** The built command, as npm links it. */
const main = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface Outcome {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  input?: string
  env?: Readonly<Record<string, string>>
  /** The current folder, if not the usual one. */
  folder?: string
}

/** A person's machine: a home folder, a folder to work in, and the tool. */
export interface Desk {
  /** The current folder of the tool. */
  folder: string
  /** The file of the tool. */
  main: string
  /** `credentials.json` of this person. */
  credentials: string
  run(args: readonly string[], options?: RunOptions): Promise<Outcome>
  /** Runs the tool in a shell. For tests that run as root, `unprivileged`: file modes hold for root, too; `userId`: as this user. */
  shell(line: string, options?: { unprivileged?: boolean; userId?: number }): Promise<Outcome>
  /** Runs the tool, and sends it this signal as soon as it is ready for it. */
  interrupt(args: readonly string[], signal: NodeJS.Signals, isReady: () => Promise<void>): Promise<Outcome>
  /** Runs the tool on a pseudo-terminal. Types each answer as soon as its question has appeared. */
  type(
    args: readonly string[],
    answers: readonly (readonly [question: string | RegExp, answer: string])[],
    env?: Readonly<Record<string, string>>,
  ): Promise<{ code: number | null; screen: string }>
  saved(): Promise<Record<string, Record<string, string>>>
  /** Saves a sign-in, as `latchkey login` does. */
  signIn(api: string, signIn?: Readonly<Record<string, string>>): Promise<void>
}

export async function openDesk(): Promise<Desk> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-tool-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return openDeskIn(root)
}

/** @param root an empty folder, which the caller removes */
export async function openDeskIn(root: string): Promise<Desk> {
  const folder = join(root, 'work')
  const config = join(root, 'config')
  const credentials = join(config, 'latchkey', 'credentials.json')
  await mkdir(folder)

  const environment = (env: Readonly<Record<string, string>> = {}) => {
    const {
      CI: _ci,
      LATCHKEY_URL: _url,
      LATCHKEY_SPACE: _space,
      LATCHKEY_ADMIN_TOKEN: _token,
      NO_COLOR: _colour,
      FORCE_COLOR: _forced,
      ...rest
    } = process.env
    return { ...rest, HOME: join(root, 'work'), XDG_CONFIG_HOME: config, TERM: 'xterm', ...env }
  }

  async function run(
    args: readonly string[],
    { input = '', env = {}, folder: cwd = folder }: RunOptions = {},
  ): Promise<Outcome> {
    return outcomeOf(spawn(process.execPath, [main, ...args], { cwd, env: environment(env) }), input)
  }

  /** In the same folder, so that a line may redirect. Root ignores modes unless it gives that right up. */
  function shell(
    line: string,
    { unprivileged = false, userId }: { unprivileged?: boolean; userId?: number } = {},
  ): Promise<Outcome> {
    const mayDrop = unprivileged && process.getuid?.() === 0
    const dropped = mayDrop ? 'setpriv --bounding-set=-dac_override,-dac_read_search ' : ''
    const prefix = userId === undefined ? dropped : `setpriv --reuid=${userId} --clear-groups `
    const command = `${prefix}'${process.execPath}' '${main}' ${line}`
    return outcomeOf(spawn('sh', ['-c', command], { cwd: folder, env: environment() }), '')
  }

  async function interrupt(args: readonly string[], signal: NodeJS.Signals, isReady: () => Promise<void>) {
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, env: environment() })
    const outcome = outcomeOf(child, '')
    await isReady().finally(() => child.kill(signal))
    return outcome
  }

  async function outcomeOf(child: ChildProcessWithoutNullStreams, input: string): Promise<Outcome> {
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => {
      output.stdout += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      output.stderr += String(chunk)
    })
    child.stdin.on('error', () => {}) // ended before it read all
    child.stdin.end(input)
    const [code] = await once(child, 'close')
    return { code, ...output }
  }

  async function type(
    args: readonly string[],
    answers: readonly (readonly [question: string | RegExp, answer: string])[],
    env: Readonly<Record<string, string>> = {},
  ) {
    const line = [process.execPath, main, ...args].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qfec', `stty cols 120 rows 40; exec ${line}`, '/dev/null'], {
      cwd: folder,
      env: environment(env),
    })
    const waiting = [...answers]
    let screen = ''
    let seen = 0
    child.stdout.on('data', (chunk) => {
      screen += String(chunk)
      const [next] = waiting
      const found = next ? screen.slice(seen).search(next[0]) : -1
      if (!next || found === -1) return
      seen = screen.length
      waiting.shift()
      child.stdin.write(next[1])
    })
    const [code] = await once(child, 'close')
    return { code, screen }
  }

  return {
    folder,
    main,
    credentials,
    run,
    shell,
    interrupt,
    type,
    saved: async () => JSON.parse(await readFile(credentials, 'utf8')).signIns,
    async signIn(api, signIn = {}) {
      await mkdir(join(config, 'latchkey'), { recursive: true, mode: 0o700 })
      const given = {
        email: 'ann@example.org',
        accessToken: 'access-1',
        accessTokenExpiresAt: '2999-01-01T00:00:00.000Z',
        refreshToken: 'refresh-1',
        ...signIn,
      }
      await writeFile(credentials, JSON.stringify({ version: 1, signIns: { [api]: given } }), { mode: 0o600 })
    },
  }
}
