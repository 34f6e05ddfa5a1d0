// `npm test`: every suite that needs nothing but Node. Further arguments go to vitest.
import { spawnSync } from 'node:child_process'
import { findChromium } from './chromium.js'

const withoutBrowser = findChromium() === null
const arguments_ = ['run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)]
if (withoutBrowser) arguments_.push('--exclude', 'test/browser/**')

const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...arguments_], { stdio: 'inherit' })
if (withoutBrowser) console.log('Not run: the browser suite (no Chromium on PATH; Debian: apt-get install chromium).')
process.exitCode = status ?? 1
