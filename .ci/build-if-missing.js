// Builds dist where it is missing: after `npm ci`, before the demo and the benchmarks.
import { execSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (!existsSync('dist/index.js')) execSync('npm run build', { stdio: 'inherit' })
