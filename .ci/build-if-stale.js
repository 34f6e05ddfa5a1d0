// Builds when a source is newer than the build, or when there is none: before the whole tests, the demo and the benchmarks.
import { execSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** What the last step of the build writes. */
const last = 'dist/runner.mjs'
/** `npm run generate` writes them each time, from sources that are looked at. */
const generated = ['built-in.ts', 'hash-worker-text.ts', 'contract-table.ts']

/** Whether the build is missing, or older than a source. */
export function isStale() {
  if (!existsSync(last)) return true
  const builtMs = statSync(last).mtimeMs
  if (['package.json', 'tsconfig.json'].some((file) => statSync(file).mtimeMs > builtMs)) return true
  return ['src', 'templates', '.ci'].some((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).some(
      (entry) => !generated.includes(entry.name) && statSync(`${entry.parentPath}/${entry.name}`).mtimeMs > builtMs,
    ),
  )
}

export function buildIfStale() {
  if (isStale()) execSync('npm run build', { stdio: 'inherit' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildIfStale()
