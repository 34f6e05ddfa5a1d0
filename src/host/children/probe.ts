import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { releasePaths } from '../../model/release.js'
import { createLog, defaultLogLimits } from './logs.js'
import { type ChildPlan, defaultChildLimits } from './plan.js'
import { SandboxFault } from './ready.js'
import { ReleaseFault } from './release-fault.js'
import { type Premises, startChild } from './start.js'

/** An application that refuses to run where it sees more than it may. */
const bundle = `import { existsSync, readdirSync } from 'node:fs'
const seen = [process.env.PROBE, '/etc/passwd', '/home', '/root', '/var'].filter((path) => {
  try {
    return existsSync(path) && readdirSync(path)
  } catch (error) {
    return error.code === 'ENOTDIR'
  }
})
if (seen.length > 0) throw new Error('The sandbox shows ' + seen.join(', '))
export default { authhooks: {}, routehooks: {}, globalhooks: [] }
`

/**
 * Starts the program of a child in a sandbox, with an application that looks for what it must not see.
 *
 * @param data the folder of the host
 * @returns what was wrong, as the lines that were printed; null: the sandbox works
 */
export async function probe(premises: Premises, data: string, hasNetwork: boolean): Promise<readonly string[] | null> {
  const releaseFolder = join(data, 'run', `probe-${premises.random.id()}`)
  await mkdir(releaseFolder, { mode: 0o700 })
  const log = createLog(premises.world, defaultLogLimits)
  try {
    await writeFile(join(releaseFolder, releasePaths.code), bundle, { mode: 0o600 })
    const plan = planOf(releaseFolder, data, hasNetwork)
    const { signal } = new AbortController()
    const running = await startChild({ plan, log, premises, isAlone: true, signal })
    running.kill('It was a probe.')
    await running.ended
    return null
  } catch (error) {
    if (error instanceof SandboxFault) return error.lines
    if (error instanceof ReleaseFault) return [error.message]
    throw error
  } finally {
    await rm(releaseFolder, { recursive: true, force: true })
  }
}

function planOf(releaseFolder: string, data: string, hasNetwork: boolean): ChildPlan {
  return {
    spaceId: 'probe',
    name: 'probe',
    release: 1,
    hash: createHash('sha256').update(bundle).digest('hex'),
    releaseFolder,
    temporaryFolder: releaseFolder,
    env: { PROBE: data },
    limits: defaultChildLimits,
    hasNetwork,
    compat: { errors: 'problem', cors: 'own', dotPaths: 'nested' },
    openData,
  }
}

/** A socket that nothing is asked on. */
async function openData(path: string): Promise<{ close(): Promise<void> }> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return { close: () => new Promise((resolve) => void server.close(() => resolve())) }
}
