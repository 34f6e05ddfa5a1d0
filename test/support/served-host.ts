import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
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

/** @param settings more of `latchkey.host.json` */
export async function startServedHost(settings: Readonly<Record<string, unknown>> = {}): Promise<ServedHost> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-served-'))
  const desk = await openDeskIn(root)
  const [listen, adminListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const [front, admin] = [`http://${listen}`, `http://${adminListen}`]
  const folder = join(desk.folder, 'host')
  await mkdir(folder)
  const places = { baseUrl: front, listen, adminUrl: admin, adminListen }
  const file = { ...places, auth: { password: { checkBreached: false } }, ...settings }
  await writeFile(join(folder, 'latchkey.host.json'), JSON.stringify(file))
  const serving = startProgram(process.execPath, [desk.main, 'serve'], { cwd: folder })
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
