import { createWorld } from '../lib/runtime.js'
import { type Environment, isInteractive } from './environment.js'
import { printable } from './printable.js'

/** Without a terminal: one line in this time. */
const lineMs = 10_000

/** Shows that something long is going on. */
export interface Progress {
  /** Says how far it is. `ratio`, from 0 to 1, is drawn as a bar on a terminal. */
  step(message: string, ratio?: number): void
  stop(): void
}

/** A spinner on a terminal, else one line every 10 s. Silent with `--json`. */
export async function startProgress(environment: Environment, message: string, json: boolean): Promise<Progress> {
  if (json) return { step() {}, stop() {} }
  if (!isInteractive(environment)) return plainProgress(environment)
  const { spinner } = await import('@clack/prompts')
  const shown = spinner({ output: environment.stderr })
  // clack reads the keys meanwhile and ends the process on Ctrl-C, with exit code 0.
  const interrupted = () => {
    process.exitCode = 130
  }
  process.once('exit', interrupted)
  shown.start(printable(message))
  return {
    step: (next, ratio) => shown.message(`${bar(ratio)}${printable(next)}`),
    stop() {
      process.off('exit', interrupted)
      shown.clear()
    },
  }
}

const barLength = 20

function bar(ratio: number | undefined): string {
  if (ratio === undefined) return ''
  const full = Math.round(Math.min(1, Math.max(0, ratio)) * barLength)
  return `${'█'.repeat(full)}${'░'.repeat(barLength - full)} `
}

function plainProgress({ stderr }: Environment): Progress {
  const { monotonic } = createWorld()
  let printedAt = monotonic()
  return {
    step(message) {
      if (monotonic() - printedAt < lineMs) return
      printedAt = monotonic()
      stderr.write(`${printable(message)}\n`)
    },
    stop() {},
  }
}
