import { realpathSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'

/** The path within the folder, with `/`; null for the folder itself and for everything outside. Both paths are real. */
export function pathInside(folder: string, path: string): string | null {
  const within = relative(folder, path)
  if (within === '' || within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within)) return null
  return within.replaceAll(sep, '/')
}

/** The path with all links followed; null when nothing is there. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
