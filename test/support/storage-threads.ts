import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { createDataThreads, type DataThreads, type DataThreadsOptions } from '../../src/host/storage/threads.js'
import { createTestClock } from '../../src/testing/clock.js'
import { temporaryFolder } from './auth.js'

const folder = fileURLToPath(new URL('../../src/host/storage/thread/', import.meta.url))

/**
 * Code of the source as one module, for a thread or process that runs beside the tests. Packages are found from the repository,
 * wherever the module lies.
 */
export async function bundleSource(contents: string): Promise<string> {
  const url = JSON.stringify(pathToFileURL(join(folder, 'worker.js')))
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // package.json says that our modules have no side effects; the program of a thread has.
    ignoreAnnotations: true,
    define: { 'import.meta.url': url },
    // CommonJS packages require what Node has built in.
    banner: {
      js: `import { createRequire as createBundleRequire } from 'node:module'; var require = createBundleRequire(${url});`,
    },
  })
  return outputFiles[0]?.text ?? ''
}

/** The program of a data thread, as a URL. `more` is further code that runs in the thread. */
export async function threadProgram(more = ''): Promise<URL> {
  const text = await bundleSource(`import './worker.js'\n${more}`)
  return new URL(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)
}

/** As `threadProgram`, in a file, whose URL is short enough for the command line of a process. */
export async function threadProgramFile(): Promise<URL> {
  const file = join(temporaryFolder(), 'worker.mjs')
  writeFileSync(file, await bundleSource(`import './worker.js'`))
  return pathToFileURL(file)
}

/** Threads that run the source, by a fixed clock. */
export function startDataThreads(program: URL, options: Partial<DataThreadsOptions> = {}): DataThreads {
  return createDataThreads({
    threads: 1,
    world: createTestClock(),
    mayWrite: () => true,
    onFault: () => {},
    program,
    ...options,
  })
}
