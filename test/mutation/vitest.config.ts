import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** For each folder the tests that should notice a change there: none that needs a build, another process or a browser. */
const testsOf: Readonly<Record<string, readonly string[]>> = {
  tokens: ['test/tokens/*.test.ts', 'test/attacks/*token*.test.ts', 'test/attacks/two-factor.test.ts'],
  guard: ['test/guard/*.test.ts', 'test/attacks/*.test.ts'],
  flows: [
    'test/flows/*.test.ts',
    'test/routes/*.test.ts',
    'test/attacks/*.test.ts',
    'test/limits/*.test.ts',
    'test/wiring/*.test.ts',
  ],
}

/** Real sockets that are slow on purpose: under load they measure the load. */
const slow = ['test/attacks/body-framing.test.ts', 'test/attacks/path-hosts.test.ts', 'test/attacks/bodies.test.ts']

/** Long walks through everything, which would be run for nearly every change: without them a run takes half as long. */
const long = [
  'test/flows/faults.test.ts',
  'test/attacks/secrets-at-rest.test.ts',
  'test/wiring/year.test.ts',
  'test/wiring/shared-clock.test.ts',
]

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: (process.env.MUTATED ?? '').split(',').flatMap((folder) => testsOf[folder] ?? []),
    exclude: [...slow, ...long],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Nothing of ours keeps state in a module, and loading all of them for each change takes longer than the tests.
    isolate: false,
  },
})
