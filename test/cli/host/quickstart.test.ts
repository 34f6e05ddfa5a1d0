import { execFile } from 'node:child_process'
import { chmod, copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, startProgram } from '../../support/program.js'
import { codesBelow } from '../../support/readme.js'
import { openDesk } from '../../support/tool.js'

const page = fileURLToPath(new URL('../../../docs/host/quickstart.md', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))
const packages = join(root, 'node_modules')
const ann = { email: 'ann@example.org', password: 'a difference engine of brass' }

/** The commands of a section. The folder is there, and what npm installs is linked: the test of the package installs it. */
function linesOf(heading: string): string[] {
  const lines = codesBelow(page, heading, 'sh excerpt').flatMap((code) => code.trim().split('\n'))
  return lines.filter((line) => !/^(npm|mkdir) /.test(line))
}

/** What `npm install` would make: a deploy takes no package that is linked into the folder. */
async function install(folder: string, ...wanted: readonly string[]): Promise<void> {
  const names = [...wanted]
  for (const name of names) {
    const { dependencies = {} } = JSON.parse(await readFile(join(packages, name, 'package.json'), 'utf8'))
    names.push(...Object.keys(dependencies).filter((each) => !names.includes(each)))
    await cp(join(packages, name), join(folder, 'node_modules', name), { recursive: true })
  }
}

test('the quickstart of the host, line by line', { timeout: 180_000 }, async () => {
  const [front, admin] = [await freePort(), await freePort()]
  const atOurPorts = (text: string) => text.replaceAll('4310', String(front)).replaceAll('4311', String(admin))
  const desk = await openDesk()
  const host = join(desk.folder, 'host')
  await mkdir(host)
  const { origin: adminUrl } = new URL(`http://127.0.0.1:${admin}`)
  await writeFile(
    join(host, 'latchkey.host.json'),
    JSON.stringify({
      ...{ baseUrl: `http://127.0.0.1:${front}`, listen: `127.0.0.1:${front}` },
      ...{ adminUrl, adminListen: `127.0.0.1:${admin}`, auth: { password: { checkBreached: false } } },
    }),
  )
  const serving = startProgram(process.execPath, [desk.main, 'serve'], { cwd: host })
  onTestFinished(() => serving.stop())
  await serving.printed(/Project default is served at/)
  const setUp = new URL((await readFile(join(host, 'latchkey-data/setup-url'), 'utf8')).trim())
  const created = await fetch(`${adminUrl}${setUp.pathname}`, {
    method: 'POST',
    headers: { origin: adminUrl, 'content-type': 'application/json' },
    body: JSON.stringify({ key: setUp.searchParams.get('key'), ...ann }),
  })
  expect(created.status).toBe(201)

  const folder = join(desk.folder, 'app')
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  await install(folder, 'codehooks-js', 'ajv', ...Object.keys(dependencies))
  for (const part of ['package.json', 'dist', 'templates', 'examples/codehooks']) {
    await cp(join(root, part), join(folder, 'node_modules/latchkey', part), { recursive: true })
  }
  const commands = join(folder, 'commands')
  await mkdir(commands)
  await writeFile(join(commands, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${desk.main}' "$@"\n`)
  await chmod(join(commands, 'npx'), 0o700)
  const environment = {
    PATH: `${commands}:${process.env.PATH}`,
    HOME: folder,
    XDG_CONFIG_HOME: dirname(dirname(desk.credentials)),
  }
  let apiKey = ''
  const shell = async (line: string) => {
    const text = atOurPorts(line).replaceAll('<API_KEY>', apiKey)
    const { stdout } = await promisify(execFile)('sh', ['-c', text], { cwd: folder, env: environment })
    return stdout
  }
  const all = async (lines: readonly string[]) => {
    let printed = ''
    for (const line of lines) printed += await shell(line)
    return printed
  }

  const [login = '', ...creating] = linesOf('Create a space')
  expect(login).toMatch(/^npx latchkey login http/)
  // The page approves the sign-in in a browser: test/browser/device.test.ts.
  const signingIn = ['login', adminUrl, '--email', ann.email, '--password', '-']
  expect(await desk.run(signingIn, { input: ann.password })).toMatchObject({ code: 0 })
  await copyFile(join(desk.folder, 'latchkey.json'), join(folder, 'latchkey.json'))
  await all(creating)
  expect(await all(linesOf('Deploy'))).toContain('Deployed Codehook successfully!')

  const [adding = '', ...calling] = linesOf('Call it')
  const [added = ''] = (await shell(adding)).match(/[\w-]{20,}/) ?? []
  apiKey = added
  const [posted = '', listed = '', found = ''] = [
    await shell(calling[0] ?? ''),
    await shell(calling[1] ?? ''),
    await shell(calling[2] ?? ''),
  ]
  const note = expect.objectContaining({ text: 'Feed the cat' })
  expect([JSON.parse(posted), JSON.parse(listed), JSON.parse(found)]).toEqual([note, [note], [note]])
  const printed = await all(linesOf('Look at the data'))
  expect(printed).toContain('Buy milk')

  expect(await all(linesOf('Deploy'))).toContain('release 2')
  await all(linesOf('Go back'))
  expect((await fetch(`http://127.0.0.1:${front}/dev/api/notes`)).status).toBe(404)
})
