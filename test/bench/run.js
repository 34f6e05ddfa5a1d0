// npm run bench [guard] [storm] [start] [-- --write]: measures against the peers and holds the results to the targets;
// with --write the tables go into the README, with versions and date, and the picture of the guard beside this file.
// Method: every contender in a process of its own, 5 interleaved rounds, medians, ratios inside a round.
// Absolute figures are this machine's; quote ratios. Let nothing else run meanwhile.
import { execSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { table } from './numbers.js'
import { writeReadme } from './readme.js'

const here = fileURLToPath(new URL('.', import.meta.url))
if (!existsSync(new URL('node_modules', import.meta.url))) execSync('npm ci', { cwd: here, stdio: 'inherit' })

const benches = {
  guard: async () => (await import('./guard.js')).benchGuard(),
  storm: async () => (await import('./storm.js')).benchStorm(),
  start: async () => (await import('./start.js')).benchStart(),
}
const write = process.argv.includes('--write')
const chosen = process.argv.slice(2).filter((argument) => argument !== '--write')
const unknown = chosen.filter((name) => !(name in benches))
if (unknown.length > 0)
  throw new Error(`No such benchmark: ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`)

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`)
const verdicts = [['target', 'measured', 'wanted', 'verdict']]
for (const [name, bench] of Object.entries(benches)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const { table: figures, results, chart } = await bench()
  console.log(`${figures}\n`)
  if (write) writeReadme(name, figures, chart)
  for (const result of results) verdicts.push([result.name, result.value, result.target, result.pass ? 'PASS' : 'FAIL'])
}
console.log(table(verdicts))
if (verdicts.some((row) => row.at(-1) === 'FAIL')) process.exitCode = 1
