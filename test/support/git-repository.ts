import { execFileSync } from 'node:child_process'

/** Without the settings of this machine. */
const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }

/** Runs git in a folder, and returns what it prints. */
export function git(folder: string, ...args: readonly string[]): string {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.test']
  return execFileSync('git', [...author, ...args], { cwd: folder, env, stdio: 'pipe' })
    .toString()
    .trim()
}
