import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { SettingsError } from '../../errors.js'

/** What child processes and data threads run, besides the application. Absolute paths. */
export interface ChildPrograms {
  /** `runner.mjs`, which the build makes. */
  runner: string
  /** mingo's CommonJS build. */
  mingo: string
  /** Of a data thread. Default: that of this package. */
  thread?: URL
}

/** Those of this package. @throws {SettingsError} when mingo is not installed */
export function ownPrograms(): ChildPrograms {
  return { runner: fileURLToPath(new URL('../runner.mjs', import.meta.url)), mingo: findMingo() }
}

function findMingo(): string {
  try {
    return createRequire(import.meta.url).resolve('mingo')
  } catch {
    const message = 'needs more packages. Run: npm install undici@7 mingo@7 tar-stream@3'
    throw new SettingsError([{ setting: 'host', message }])
  }
}
