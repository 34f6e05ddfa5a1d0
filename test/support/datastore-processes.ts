import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'
import { hasBetterSqlite } from './addons.js'
import type { Fight, Spoils } from './datastore-process.js'

/** A process that is ready to fight. */
export interface Fighter {
  /** Begins; what it was told that it got, or null when it died. */
  fight(): Promise<Spoils | null>
}

/** Builds the program once, where it finds its packages; starts processes of it. */
export async function createFighters(): Promise<(fight: Fight) => Promise<Fighter>> {
  const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'latchkey-datastore-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = join(folder, 'process.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('datastore-process.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    packages: 'external',
    alias: hasBetterSqlite ? {} : { 'better-sqlite3': fileURLToPath(new URL('node-sqlite.js', import.meta.url)) },
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return async (fight) => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    const lines = createInterface({ input: child.stdout })
    child.stdin.write(`${JSON.stringify(fight)}\n`)
    await once(lines, 'line')
    return {
      async fight() {
        const told: string[] = []
        lines.on('line', (line) => void told.push(line))
        child.stdin.write('go\n')
        await exit
        return told[0] === undefined ? null : JSON.parse(told[0])
      },
    }
  }
}
