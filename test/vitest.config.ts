import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Real PostgreSQL, MariaDB and Redis on this machine: `.ci/run` sets it, and then what is missing is a failure. */
const withServers = process.env.LATCHKEY_TEST_SERVICES === '1'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**', 'node_modules/**', ...(withServers ? [] : ['test/servers/**'])],
    globalSetup: withServers ? [] : ['test/support/without-servers.js'],
    setupFiles: ['test/support/no-network.js'],
    // What a busy machine may take; nothing is said of how soon something comes about.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    // Vitest leaves one core free, and so would take one file at a time on two; much of what is tested here waits.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
})
