// Runs the tests, after the build if a source is newer than it: `npm test` and the scripts `test:all`, `test:servers` and `test:runtimes`. Further arguments go to Vitest.
import { spawnSync } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { buildIfStale, isStale } from './build-if-stale.js'

/** What starts browsers, programs and packages, and what goes through very many cases. */
const slow = [
  'test/browser/',
  'test/processes/',
  'test/cli/host/',
  'test/cli/init/projects.test.ts',
  'test/cli/local/',
  'test/bundles.test.ts',
  'test/demo.test.ts',
  'test/docs.test.ts',
  'test/examples.test.ts',
  'test/flows/faults.test.ts',
  'test/guides.test.ts',
  'test/host/collections/',
  'test/host/documents/find-law.test.ts',
  'test/host/escapes/',
  'test/host/flood.test.ts',
  'test/host/front/raw-attacks.test.ts',
  'test/host/routes/documents-page.test.ts',
  'test/host/spaces/interrupted.test.ts',
  'test/moving.test.ts',
  'test/package.test.ts',
  'test/store/datastore/datastore.test.ts',
  'test/store/datastore/faults.test.ts',
  'test/store/sql/pglite.test.ts',
  'test/wiring/year.test.ts',
]
const demo = ['test/demo.test.ts', 'test/browser/demo.test.ts']
const long = { LATCHKEY_TEST_ALL: '1' }

/**
 * What each name runs: `only` these paths, without those `leftOut`. `demo`, `package` and `rest` are together what `all` has
 * beyond `most`.
 */
const sets = {
  most: { leftOut: slow },
  all: { env: long },
  demo: { only: demo, env: long },
  package: { only: ['test/package.test.ts'], env: long },
  rest: { only: slow, leftOut: [...demo, 'test/package.test.ts'], env: long },
  // On each version of Node.
  escapes: { only: ['test/host/children/sandbox.test.ts', 'test/host/escapes/'] },
  servers: { only: ['test/servers/'], env: { LATCHKEY_TEST_SERVICES: '1' } },
  runtimes: { only: ['test/runtimes/'], env: { LATCHKEY_TEST_SERVICES: '1', LATCHKEY_TEST_RUNTIMES: '1' } },
}

const [name, ...args] = process.argv.slice(2)
const set = Object.hasOwn(sets, name) ? sets[name] : null
if (!set) throw new Error(`node .ci/test.js ${Object.keys(sets).join('|')} [arguments of Vitest]`)

const { only = [], leftOut = [], env = {} } = set
// Node reads this file of certificates whenever a program starts, which takes longer than many programs do. Only the test of
// the package reaches a host beyond this machine: the registry.
const { NODE_EXTRA_CA_CERTS: _certificates, ...withoutCertificates } = process.env
const inherited = name === 'package' || name === 'all' ? process.env : withoutCertificates
// A path that is named runs, slow or not, and nothing else.
const isNamed = args.some((argument) => argument.startsWith('test/'))
// The tool, the packed package and the examples run from dist/.
if (!isNamed) buildIfStale()
else if (isStale()) {
  console.log('dist/ is missing or older than src/. Tests that run the built package need: npm run build')
}
const globs = (isNamed ? [] : leftOut).map((path) => (path.endsWith('/') ? `${path}**` : path))
// Threads that hash passwords have the lowest priority. Tests come one step above it, so that they do not wait long for a hash.
const low = constants.priority.PRIORITY_LOW - 1
if (getPriority() < low) setPriority(low)
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...(isNamed ? [] : only), ...args],
  // Vitest takes no --exclude for projects.
  { stdio: 'inherit', env: { ...inherited, LATCHKEY_TEST_LEFT_OUT: globs.join(','), ...env } },
)
process.exitCode = status ?? 1
