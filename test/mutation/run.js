// npm run mutate -- tokens [flows guard …]: changes the sources one place at a time and tells which changes no test sees.
// Takes an hour and more for a large folder; a file may be named too: npm run mutate -- flows/password/login.ts
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
if (!existsSync(new URL('node_modules', import.meta.url))) execFileSync('npm', ['ci'], { cwd: here, stdio: 'inherit' })

const { Stryker } = await import('@stryker-mutator/core')
const wanted = process.argv.slice(2)
const places = wanted.length > 0 ? wanted : ['tokens', 'guard', 'flows']
process.env.MUTATED = [...new Set(places.map((place) => place.split('/')[0]))].join()

await new Stryker({
  mutate: places.map((place) => (place.endsWith('.ts') ? `src/${place}` : `src/${place}/**/*.ts`)),
  testRunner: 'vitest',
  plugins: [createRequire(import.meta.url).resolve('@stryker-mutator/vitest-runner')],
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // What runs once, when a file is loaded, would need every test for every change.
  ignoreStatic: true,
  // Compiled by vitest without a type check; a sentence for people is no rule.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignorePatterns: ['dist', 'test/bench', 'test/mutation/node_modules', '.stryker-tmp', 'reports'],
  // The last one writes each result as it comes: a run that is cut off has not been for nothing.
  reporters: ['clear-text', 'json', 'progress-append-only', 'event-recorder'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: 'reports/mutation.json' },
  concurrency: 2,
  // A change may make a test wait for what never comes; a busy machine must not look like that.
  timeoutMS: 20_000,
  timeoutFactor: 3,
  tempDirName: '.stryker-tmp',
}).runMutationTest()
