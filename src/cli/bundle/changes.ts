import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const timeoutMs = 10_000

/**
 * Whether a file of the folder differs from the commit that is checked out, or is not in it. Only git itself can tell, and it is
 * asked so that it starts no monitor and writes nothing. null: git is missing, slow or refuses the repository.
 */
export async function hasChanges(
  folder: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<boolean | null> {
  // Within a hook of git these name another repository.
  const own = Object.entries(variables).filter(([name]) => !name.toUpperCase().startsWith('GIT_'))
  const env = { ...Object.fromEntries(own), GIT_OPTIONAL_LOCKS: '0' }
  const question = ['-c', 'core.fsmonitor=false', '-C', folder, 'status', '--porcelain', '--', '.']
  try {
    const { stdout } = await promisify(execFile)('git', question, { env, timeout: timeoutMs, windowsHide: true })
    return stdout !== ''
  } catch (error) {
    // More output than is read: many files have changed.
    const isMuch = error instanceof Error && 'code' in error && error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
    return isMuch ? true : null
  }
}
