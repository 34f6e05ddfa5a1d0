#!/usr/bin/env node
import { CommanderError } from 'commander'
import { keepProcessRunning } from '../lib/runtime.js'
import { createTool, type OpenTool } from './context.js'
import { processEnvironment } from './environment.js'
import { createOutput } from './output.js'
import { printable } from './printable.js'
import { commanderFault, createProgram } from './program.js'
import { type ExitCode, ToolError, toToolError } from './tool-error.js'
import { version } from './version.js'

/** Runs the command line of this process, and sets its exit code. */
async function main(): Promise<void> {
  const args = process.argv.slice(2)
  // Secrets of the command line do not stay in the list of processes.
  process.title = 'latchkey'
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  process.stdout.on('error', endOfOutput)
  muteExperiments()
  // The connections of a store do not keep a process running.
  keepProcessRunning()
  const exitCode = await run(args)
  // What the settings module of an application holds open, such as a pool of its own, must not keep the tool running.
  await Promise.all([written(process.stdout), written(process.stderr)])
  process.exit(exitCode)
}

/** `node:sqlite` and TypeScript modules are experimental in some versions of Node, which would warn in every command. */
function muteExperiments(): void {
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${name}: ${printable(message)}\n`)
  })
}

/** A reader that closes early, such as `head`, has what it wanted. Anything else, such as a full disk, lost a part of the result. */
function endOfOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message
  createOutput(processEnvironment(), process.argv.includes('--json')).error(
    new ToolError(1, 'output_failed', `The output could not be written: ${reason}.`),
  )
  process.exit(1)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve())
  })
}

async function run(args: readonly string[]): Promise<ExitCode> {
  const environment = processEnvironment()
  let tool: OpenTool | null = null
  const program = createProgram({
    version: version(),
    openTool(options, command) {
      tool = createTool(environment, options, command)
      return tool
    },
    write: { out: (text) => environment.stdout.write(text), err: (text) => environment.stderr.write(text) },
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    const fault = error instanceof CommanderError ? commanderFault(error) : toToolError(error)
    if (fault === null) return 0
    if (fault.message !== '') createOutput(environment, args.includes('--json')).error(fault)
    return fault.exitCode
  } finally {
    await closeTool(tool)
  }
}

async function closeTool(tool: OpenTool | null): Promise<void> {
  await tool?.close().catch(() => {})
}

await main()
