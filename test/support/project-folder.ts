import type { Project } from '../../src/cli/init/project.js'

/** A folder as the plan of `latchkey init` reads it, of texts by path. */
export function projectOf(files: Readonly<Record<string, string>>, more: Partial<Project> = {}): Project {
  return {
    paths: Object.keys(files).filter((path) => !path.startsWith('node_modules/')),
    isComplete: true,
    lockFiles: [],
    read: (path) => files[path] ?? null,
    kindOf: (path) => (path in files ? 'file' : 'missing'),
    ...more,
  }
}

/** A plan on Node 22 in which every secret is `fresh`. */
export const conditions = { nodeVersion: '22.20.0', createSecret: () => 'fresh' }
