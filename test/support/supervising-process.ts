// A process that supervises one child, to be killed. Its argument is JSON; it prints the id of the child, and what that prints.

import { findLauncher, processIsolation } from '../../src/host/children/isolation.js'
import { defaultChildLimits } from '../../src/host/children/plan.js'
import { createSupervisor } from '../../src/host/children/supervisor.js'
import { createRandom } from '../../src/lib/random.js'
import { createWorld, keepProcessRunning } from '../../src/lib/runtime.js'

const { runFolder, runner, mingo, releaseFolder, temporaryFolder, hash } = JSON.parse(process.argv[2] ?? '{}')

const supervisor = await createSupervisor({
  planOf: async (spaceId) => ({
    spaceId,
    name: 'dev',
    release: 1,
    hash,
    releaseFolder,
    temporaryFolder,
    env: {},
    hasNetwork: true,
    limits: defaultChildLimits,
    compat: { errors: 'problem', cors: 'own', dotPaths: 'nested' },
    openData: async () => ({ close: async () => {} }),
  }),
  onCrashed: () => {},
  runFolder,
  runner,
  mingo,
  isolate: async () => processIsolation(await findLauncher()),
  world: createWorld(),
  random: createRandom(),
})
supervisor.logs('dev').follow(({ text }) => process.stdout.write(`${text}\n`))
const { pid } = await supervisor.start('dev')
process.stdout.write(`pid ${pid}\n`)
keepProcessRunning()
