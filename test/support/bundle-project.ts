import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

/** A project in a folder of its own, `app` of an otherwise empty one. Real path. It goes when the test ends. */
export async function bundleProject(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const above = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-project-')))
  onTestFinished(() => rm(above, { recursive: true, force: true }))
  const folder = join(above, 'app')
  await mkdir(folder)
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

/** What `print` makes of the module, in a process of its own that has nothing else. */
export async function importAlone(file: string, print: string, env: Readonly<Record<string, string>> = {}) {
  const script = `const found = await import(${JSON.stringify(pathToFileURL(file).href)}); process.stdout.write('\\n@@' + JSON.stringify(${print}), () => process.exit())`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: '/',
    env: { PATH: process.env.PATH, ...env },
  })
  const answer: unknown = JSON.parse(stdout.slice(stdout.lastIndexOf('@@') + 2))
  return answer
}
