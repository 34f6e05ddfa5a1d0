import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs'
import type { Environment } from '../environment.js'
import { type ToolError, usage } from '../tool-error.js'

/** The bits by which a group or everyone may write. */
const writableByOthers = 0o022

const rootId = 0

/**
 * Why the content of a file or folder must not decide what the tool does: another user owns it or may write to it. Null when
 * neither is so, or on Windows. Root may own it: root can change everything on the machine anyway, and container images
 * commonly copy files as root and run as another user.
 */
export function distrustOf(path: string, environment: Environment): string | null {
  const stats = statSync(path)
  if (environment.userId === null) return null
  if (stats.uid !== environment.userId && stats.uid !== rootId) return `${path} belongs to another user.`
  return (stats.mode & writableByOthers) === 0 ? null : `Others can write to ${path}. Run: chmod go-w '${path}'`
}

/** What is at a path, links not followed. Null when nothing is. */
export function statOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}

/** Why there is nothing to read at a path. Links are followed. */
export function noFile(path: string): ToolError {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  return usage(isFolder ? `${path} is a folder. Name a file.` : `There is no file ${path}.`)
}

/** @throws {ToolError} usage, for a file or folder that another user owns or may write to, or that cannot be read */
export function requireTrusted(path: string, environment: Environment): void {
  const distrust = distrustOf(path, environment)
  if (distrust !== null) throw usage(distrust, 'Nothing was read from it. Run latchkey as the user who owns it.')
  if (!isReadable(path)) throw usage(`${path} cannot be read by you. Run latchkey as the user of the application.`)
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
