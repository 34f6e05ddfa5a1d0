import { execFile } from 'node:child_process'
import { chmod, copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { codesBelow } from '../../support/readme.js'
import { install, startServedHost } from '../../support/served-host.js'

const page = fileURLToPath(new URL('../../../docs/host/quickstart.md', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The commands of a section. The folder is there, and what npm installs is linked: the test of the package installs it. */
function linesOf(heading: string): string[] {
  const lines = codesBelow(page, heading, 'sh excerpt').flatMap((code) => code.trim().split('\n'))
  return lines.filter((line) => !/^(npm|mkdir) /.test(line))
}

test('the quickstart of the host, line by line', { timeout: 180_000 }, async () => {
  // The page approves the sign-in in a browser: test/browser/device.test.ts. Here a password does.
  const { desk, front, admin, stop } = await startServedHost()
  onTestFinished(stop)
  const atOurPorts = (text: string) =>
    text.replaceAll('4310', new URL(front).port).replaceAll('4311', new URL(admin).port)

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
  expect((await fetch(`${front}/dev/api/notes`)).status).toBe(404)
})
