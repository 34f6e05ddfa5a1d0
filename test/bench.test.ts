import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('bench', import.meta.url))

/** Each name that a benchmark imports from the build, with the file that it has to be in. */
async function partsOfTheBuild(): Promise<[file: string, name: string][]> {
  const scripts = [folder, join(folder, 'peers')].map(async (place) => {
    const files = (await readdir(place)).filter((file) => file.endsWith('.js'))
    const texts = await Promise.all(files.map((file) => readFile(join(place, file), 'utf8')))
    return texts.flatMap((text) => [...text.matchAll(/import \{([^}]*)\} from '([./]+\/(?:\.build|dist)\/[^']+)'/g)])
  })
  return (await Promise.all(scripts)).flat().flatMap(([, names = '', path = '']) => {
    const file = path.replace(/^(\.\.\/)+/, '')
    return names.split(',').map((name): [string, string] => [file, name.trim()])
  })
}

test('every part of the build that a benchmark uses is there', async () => {
  const parts = await partsOfTheBuild()
  expect(parts).toContainEqual(['.build/guard/rotation-proofs.js', 'RotationProofs'])
  for (const [file, name] of parts) {
    const exported: unknown = await import(new URL(`../${file}`, import.meta.url).href)
    expect([file, name in Object(exported)]).toEqual([file, true])
  }
})

test('the benchmark of the first sight measures both ways in', async () => {
  const script = `import { benchFirst } from ${JSON.stringify(join(folder, 'first.js'))}
    console.log(JSON.stringify((await benchFirst({ rounds: 1 })).results))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  const measured = JSON.parse(stdout).map(({ name, value }: Record<string, string>) => [name, Number(value) > 0])
  const names = ['first sight / by hand, latchkey, bearer', 'first sight / by hand, latchkey, cookie']
  expect(measured).toEqual(names.map((name) => [name, true]))
}, 120_000)
