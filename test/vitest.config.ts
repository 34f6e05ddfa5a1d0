import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { hasBetterSqlite } from './support/addons.js'

/** Real PostgreSQL, MariaDB and Redis on this machine: `.ci/run` sets it, and then what is missing is a failure. */
const withServers = process.env.LATCHKEY_TEST_SERVICES === '1'
/** Bun and Deno, which `npm run test:runtimes` brings. */
const withRuntimes = process.env.LATCHKEY_TEST_RUNTIMES === '1'
/** Workers that cannot load a native addon, so that only node:sqlite can be behind a green run. */
const withoutAddons = process.env.LATCHKEY_TEST_NO_ADDONS === '1'

/** Files that change or measure their whole process. Each of them gets a process of its own, all others share some. */
const alone = [
  'test/{browser,processes,runtimes,servers,passwords,telemetry}/**/*.test.ts',
  'test/{bench,bundles,demo,docs,examples,guides,package,cli/init/projects}.test.ts',
  // Replace methods of classes, or what the process prints, for the whole file.
  'test/attacks/{enumeration,leakage,pending-registrations}.test.ts',
  'test/{adapters/codehooks/codehooks,routes/development/mailbox,store/datastore/app}.test.ts',
  // Asks whether a package has been loaded yet.
  'test/templates/handlebars.test.ts',
  // Measure the heap.
  'test/lib/{client-ip,copied-text,remember}.test.ts',
]

/** `npm test` names the slow suites here. */
const leftOut = (process.env.LATCHKEY_TEST_LEFT_OUT ?? '').split(',').filter((glob) => glob !== '')
const never = [
  'test/bench/**',
  ...(withServers ? [] : ['test/servers/**']),
  ...(withRuntimes ? [] : ['test/runtimes/**']),
  ...leftOut,
]

export default defineConfig({
  root: placeOf('..'),
  resolve: {
    alias: hasBetterSqlite && !withoutAddons ? {} : { 'better-sqlite3': placeOf('support/node-sqlite.js') },
  },
  test: {
    setupFiles: ['test/support/no-network.js'],
    // What a busy machine may take; nothing is said of how soon something comes about.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    // `.ci/run` starts Vitest again and again.
    experimental: { fsModuleCache: true },
    pool: 'forks',
    execArgv: withoutAddons ? ['--no-addons'] : [],
    // Much of what is tested here waits, so two cores carry four files at a time. Vitest itself would leave one core free.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          globalSetup: withServers ? [] : ['test/support/without-servers.js'],
          include: ['test/**/*.test.ts'],
          exclude: [...never, ...alone],
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'alone', include: alone, exclude: never, sequence: { groupOrder: 1 } } },
    ],
  },
})

function placeOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
