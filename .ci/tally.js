// Adds up what the test runners reported and prints the last line of .ci/run.
// node .ci/tally.js <folder with *.json of vitest, failed-steps (one name a line) and failed-runs (one json name a line)>
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const folder = process.argv[2]
const total = { passed: 0, failed: 0, skipped: 0 }
const failedIn = new Map()
const failedTests = []

for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  // A file that could not be loaded has no tests to count, yet it failed.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length
  for (const file of report.testResults) {
    const failed = file.assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName)
    if (file.status === 'failed')
      failedTests.push(`${name}: ${relative('.', file.name)}: ${failed.join('; ') || file.message}`)
  }
  failedIn.set(name, report.numFailedTests + broken)
  total.passed += report.numPassedTests
  total.failed += report.numFailedTests + broken
  total.skipped += report.numPendingTests + report.numTodoTests
}

// A step that is no test run counts as one; so does a run that failed without a failing test (a crash, a stray rejection).
for (const step of linesOf('failed-steps')) {
  console.log(`failed step: ${step}`)
  total.failed += 1
}
for (const run of linesOf('failed-runs')) {
  console.log(`failed run: ${run}`)
  if (!failedIn.get(run)) total.failed += 1
}
// Last, because the end is what is kept of a long log.
for (const test of failedTests) console.log(`failed test: ${test}`)

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed > 0 ? 1 : 0

function linesOf(name) {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}
