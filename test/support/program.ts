import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A program that runs beside the tests, as its user would start it. */
export interface Program {
  /** The first match in what it has printed or will print; rejects when it ends without, or after 45 s. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>
  /** What it has printed so far. */
  output(): string
  /** Asks it to end and waits until it has. */
  stop(): Promise<void>
}

/** Starts a program. `env` comes on top of our own environment. */
export function startProgram(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: Readonly<Record<string, string>>; userId?: number },
): Program {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    ...(options.userId !== undefined && { uid: options.userId, gid: options.userId }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that stop() reaches what npm and its shell have started.
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk)
    })

  return {
    async printed(pattern) {
      const deadline = Date.now() + 45_000
      while (Date.now() < deadline) {
        const match = output.match(pattern)
        if (match) return match
        if (hasEnded(child)) break
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`${command} ${args.join(' ')} never printed ${pattern}, but:\n${output}`)
    },
    output: () => output,
    async stop() {
      if (hasEnded(child) || child.pid === undefined) return
      const closed = once(child, 'close')
      process.kill(-child.pid, 'SIGTERM')
      await closed
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/**
 * A TCP port of loopback that nothing listens on just now. It lies below the ports that Linux gives to connections and to
 * `listen(0)` (from 32768 on), so none of those takes it before the test does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_768)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
