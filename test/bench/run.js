// npm run bench [guard] [storm] [start] [memory] [first] [allow-list] [lists] [revoke] [changes] [tool] [hashing] [refresh]
// [million] [documents] [host] [routes] [-- --write]: measures, against the peers where there are any, and holds the results to the targets. Without a name it is the first
// three. `guard express` is that framework alone. With --write their tables go into docs/benchmarks.md, with versions and date, and
// the picture of the guard beside this file.
// Method: every contender in a process of its own, 5 interleaved rounds or more, medians, ratios inside a round.
// Absolute figures are this machine's; quote ratios. Let nothing else run meanwhile.
import { execSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { table } from './numbers.js'
import { writePage } from './page.js'

const here = fileURLToPath(new URL('.', import.meta.url))
if (!existsSync(new URL('node_modules', import.meta.url))) execSync('npm ci', { cwd: here, stdio: 'inherit' })

const frameworks = ['express', 'fastify', 'hono', 'node:http']
const write = process.argv.includes('--write')
const words = process.argv.slice(2).filter((word) => word !== '--write')
const only = words.filter((word) => frameworks.includes(word))
const chosen = words.filter((word) => !only.includes(word))

const benches = {
  guard: async () => (await import('./guard.js')).benchGuard({ only }),
  storm: async () => (await import('./storm.js')).benchStorm(),
  start: async () => (await import('./start.js')).benchStart(),
}
/** Without peers, and not in docs/benchmarks.md. */
const alone = {
  memory: async () => (await import('./memory.js')).benchMemory(),
  first: async () => (await import('./first.js')).benchFirst(),
  'allow-list': async () => (await import('./allow-list.js')).benchAllowList(),
  revoke: async () => (await import('./revoke.js')).benchRevoke(),
  changes: async () => (await import('./changes.js')).benchChanges(),
  tool: async () => (await import('./tool.js')).benchTool(),
  hashing: async () => (await import('./hashing.js')).benchHashing(),
  refresh: async () => (await import('./refresh.js')).benchRefresh(),
  million: async () => (await import('./crowd.js')).benchCrowd(),
  documents: async () => (await import('./documents.js')).benchDocuments(),
  host: async () => (await import('./host.js')).benchHost(),
  lists: async () => (await import('./lists.js')).benchLists(),
  routes: async () => (await import('./routes.js')).benchRoutes(),
}
const known = { ...benches, ...alone }
const unknown = chosen.filter((name) => !(name in known))
if (unknown.length > 0)
  throw new Error(`No such benchmark: ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}`)
if (write && (only.length > 0 || chosen.some((name) => name in alone)))
  throw new Error('--write takes guard, storm and start, each as a whole')

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`)
const verdicts = [['target', 'measured', 'wanted', 'verdict']]
const names = chosen.length > 0 ? chosen : only.length > 0 ? ['guard'] : Object.keys(benches)
for (const name of names) {
  const { table: figures, results, chart } = await known[name]()
  console.log(`${figures}\n`)
  if (write) writePage(name, figures, chart)
  for (const result of results) verdicts.push([result.name, result.value, result.target, result.pass ? 'PASS' : 'FAIL'])
}
console.log(table(verdicts))
if (verdicts.some((row) => row.at(-1) === 'FAIL')) process.exitCode = 1
