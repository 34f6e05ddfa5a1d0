import { spawn } from 'node:child_process'
import { type Environment, isInteractive, variable } from '../environment.js'

/**
 * Opens a page in the browser of this desktop, as far as there is one. The URL was parsed strictly, and it reaches the
 * program as one argument without a shell.
 */
export function openBrowser(environment: Environment, url: string): void {
  const command = commandOf(environment)
  if (command === null || !isInteractive(environment)) return
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {}) // The address is on the terminal as well.
  child.unref()
}

function commandOf(environment: Environment): [program: string, ...args: string[]] | null {
  if (variable(environment, 'SSH_CONNECTION') !== null) return null
  if (environment.platform === 'darwin') return ['open']
  if (environment.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  const hasDesktop = variable(environment, 'DISPLAY') ?? variable(environment, 'WAYLAND_DISPLAY')
  return hasDesktop === null ? null : ['xdg-open']
}
