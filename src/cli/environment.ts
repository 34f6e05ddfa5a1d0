import { homedir, userInfo } from 'node:os'
import type { ReadStream, WriteStream } from 'node:tty'

/** What a command reads of the process that it runs in. */
export interface Environment {
  variables: Readonly<Record<string, string | undefined>>
  /** The current folder. */
  folder: string
  homeFolder: string
  platform: NodeJS.Platform
  /** Of the user who runs the tool. Null on Windows, which has neither owners nor modes of this kind. */
  userId: number | null
  /** The name of that user. Without a name, the number. */
  userName: string
  /** Such as `22.18.0`. */
  nodeVersion: string
  /** Whether this Node runs TypeScript, by removing its types. */
  stripsTypes: boolean
  /** Sets variables of this process, those that are set already excepted. */
  addVariables(values: Readonly<Record<string, string | undefined>>): void
  /** From now on, relative paths of the application's settings count from that folder. Those of the command do not. */
  enterFolder(folder: string): void
  stdin: NodeJS.ReadStream | ReadStream
  stdout: NodeJS.WriteStream | WriteStream
  stderr: NodeJS.WriteStream | WriteStream
}

/** The environment of this process. The rest of the tool reads nothing of `process` but this. */
export function processEnvironment(): Environment {
  return {
    variables: process.env,
    folder: process.cwd(),
    homeFolder: homedir(),
    platform: process.platform,
    userId: process.getuid?.() ?? null,
    userName: userName(),
    nodeVersion: process.versions.node,
    stripsTypes: 'typescript' in process.features && Boolean(process.features.typescript),
    addVariables(values) {
      for (const [name, value] of Object.entries(values)) process.env[name] ??= value
    },
    enterFolder: (folder) => process.chdir(folder),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
  }
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

/** A variable that is set and not empty. */
export function variable(environment: Environment, name: string): string | null {
  const value = environment.variables[name]
  return value === undefined || value === '' ? null : value
}

/** Whether programs run the tool, not a person at a terminal (`CI=false` counts as a person). */
export function isUnattended(environment: Environment): boolean {
  const ci = variable(environment, 'CI')
  return (ci !== null && ci !== 'false' && ci !== '0') || variable(environment, 'TERM') === 'dumb'
}

/** Whether questions can be asked: they appear on stderr, because stdout carries the result only. */
export function isInteractive(environment: Environment): boolean {
  return environment.stdin.isTTY === true && environment.stderr.isTTY === true && !isUnattended(environment)
}
