// `npm ci` builds dist through `prepare`; this is for those who installed with --ignore-scripts.
import { execSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (!existsSync('dist/index.js')) execSync('npm run build', { stdio: 'inherit' })
