import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isCommitHash, type ReleaseCommit } from '../../model/release.js'

/** Longer files are not read. */
const longestBytes = 16 * 1024 * 1024

/**
 * The commit and branch that are checked out, read from the files of git: no program runs. null outside a repository, before
 * the first commit, and for a repository whose form is not known here.
 */
export function readCommit(folder: string): ReleaseCommit | null {
  const gitFolder = findGitFolder(folder)
  const head = gitFolder && textOf(join(gitFolder, 'HEAD'))
  if (!gitFolder || !head) return null
  const [, ref] = /^ref: (refs\/heads\/[^\p{Cc}\p{Cf}\p{Cs}\\]+)$/u.exec(head) ?? []
  if (ref === undefined) return isCommitHash(head) ? { hash: head, branch: null } : null
  if (ref.split('/').some((part) => part === '' || part.startsWith('.'))) return null

  const common = commonFolder(gitFolder)
  const hash = looseRef(gitFolder, ref) ?? looseRef(common, ref) ?? packedRef(common, ref)
  return hash === null ? null : { hash, branch: ref.replace(/^refs\/heads\//, '') }
}

/** `.git` of this folder or the nearest one above: a folder, or in a worktree a file that names it. */
function findGitFolder(folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, '.git')
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory()) return path
    const [, named] = /^gitdir: (.+)$/.exec((stats && textOf(path)) ?? '') ?? []
    if (named !== undefined) return resolve(at, named)
    if (at === dirname(at)) return null
  }
}

/** Worktrees share the branches of their repository. */
function commonFolder(gitFolder: string): string {
  const named = textOf(join(gitFolder, 'commondir'))
  if (named === null) return gitFolder
  return isAbsolute(named) ? named : join(gitFolder, named)
}

function looseRef(gitFolder: string, ref: string): string | null {
  const hash = textOf(join(gitFolder, ref))
  return hash !== null && isCommitHash(hash) ? hash : null
}

function packedRef(gitFolder: string, ref: string): string | null {
  const line = textOf(join(gitFolder, 'packed-refs'))
    ?.split('\n')
    .find((each) => each.endsWith(` ${ref}`))
  const hash = line?.slice(0, -ref.length - 1) ?? ''
  return isCommitHash(hash) ? hash : null
}

function textOf(path: string): string | null {
  try {
    const stats = statSync(path)
    return stats.isFile() && stats.size <= longestBytes ? readFileSync(path, 'utf8').trim() : null
  } catch {
    return null
  }
}
