import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startProgram } from './program.js'
import { type Desk, openDeskIn } from './tool.js'

const packages = fileURLToPath(new URL('../../node_modules', import.meta.url))
const ann = { email: 'ann@example.org', password: 'a difference engine of brass' }

/** The built `latchkey serve` as a process, and a person who has signed in at it with the built tool. */
export interface ServedHost {
  desk: Desk
  /** Origins of spaces and of the control API. */
  front: string
  admin: string
  /** Ends the host, and removes its folder and the desk. */
  stop(): Promise<void>
}

/**
 * @param settings more of `latchkey.host.json`
 * @param userId who runs the host, if the tests run as root. Default: the user of the tests
 */
export async function startServedHost(
  settings: Readonly<Record<string, unknown>> = {},
  userId?: number,
): Promise<ServedHost> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-served-'))
  const desk = await openDeskIn(root)
  const [listen, adminListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const [front, admin] = [`http://${listen}`, `http://${adminListen}`]
  const folder = join(desk.folder, 'host')
  await mkdir(folder)
  const places = { baseUrl: front, listen, adminUrl: admin, adminListen }
  const file = { ...places, auth: { password: { checkBreached: false } }, ...settings }
  await writeFile(join(folder, 'latchkey.host.json'), JSON.stringify(file))
  const runAs = process.getuid?.() === 0 ? userId : undefined
  if (runAs !== undefined) {
    await chmod(root, 0o755)
    for (const path of [folder, join(folder, 'latchkey.host.json')]) await chown(path, runAs, runAs)
  }
  const serving = startProgram(process.execPath, [desk.main, 'serve'], {
    cwd: folder,
    ...(runAs !== undefined && { userId: runAs }),
  })
  const stop = async () => {
    await serving.stop()
    await rm(root, { recursive: true, force: true })
  }
  try {
    await serving.printed(/Project default is served at/)
    await setUp(admin, await readFile(join(folder, 'latchkey-data/setup-url'), 'utf8'))
    const signingIn = ['login', admin, '--email', ann.email, '--password', '-']
    const { code, stderr } = await desk.run(signingIn, { input: ann.password })
    if (code !== 0) throw new Error(stderr)
  } catch (error) {
    await stop()
    throw error
  }
  return { desk, front, admin, stop }
}

async function setUp(admin: string, link: string): Promise<void> {
  const { pathname, searchParams } = new URL(link.trim())
  const { status } = await fetch(`${admin}${pathname}`, {
    method: 'POST',
    headers: { origin: admin, 'content-type': 'application/json' },
    body: JSON.stringify({ key: searchParams.get('key'), ...ann }),
  })
  if (status !== 201) throw new Error(`The set-up was answered with ${status}.`)
}

/** Puts packages of this repository and all that they need into a folder, as `npm install` does. */
export async function install(folder: string, ...wanted: readonly string[]): Promise<void> {
  const names = [...wanted]
  for (const name of names) {
    const { dependencies = {} } = JSON.parse(await readFile(join(packages, name, 'package.json'), 'utf8'))
    names.push(...Object.keys(dependencies).filter((each) => !names.includes(each)))
    await cp(join(packages, name), join(folder, 'node_modules', name), { recursive: true })
  }
}
