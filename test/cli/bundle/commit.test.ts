import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCommit } from '../../../src/cli/bundle/commit.js'
import { bundleProject } from '../../support/bundle-project.js'
import { git } from '../../support/git-repository.js'

async function repository(): Promise<{ folder: string; hash: string }> {
  const folder = await bundleProject({ 'index.js': '' })
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'first')
  return { folder, hash: git(folder, 'rev-parse', 'HEAD') }
}

describe('the commit of a release', () => {
  test('is the one that is checked out, with its branch', async () => {
    const { folder, hash } = await repository()
    expect(readCommit(folder)).toEqual({ hash, branch: 'main' })
    await mkdir(join(folder, 'packages/api'), { recursive: true })
    expect(readCommit(join(folder, 'packages/api'))).toEqual({ hash, branch: 'main' })
    git(folder, 'checkout', '-q', '-b', 'feature/über-käse')
    expect(readCommit(folder)).toEqual({ hash, branch: 'feature/über-käse' })
  })

  test('is found where git has packed its branches, and in a worktree', async () => {
    const { folder, hash } = await repository()
    git(folder, 'pack-refs', '--all')
    expect(readCommit(folder)).toEqual({ hash, branch: 'main' })
    git(folder, 'worktree', 'add', '-q', '-b', 'second', '../tree')
    git(join(folder, '../tree'), 'commit', '-q', '--allow-empty', '-m', 'second')
    const second = git(join(folder, '../tree'), 'rev-parse', 'HEAD')
    expect(readCommit(join(folder, '../tree'))).toEqual({ hash: second, branch: 'second' })
  })

  test('has no branch when none is checked out', async () => {
    const { folder, hash } = await repository()
    git(folder, 'checkout', '-q', '--detach')
    expect(readCommit(folder)).toEqual({ hash, branch: null })
  })

  test('is null without a repository and before the first commit', async () => {
    const folder = await bundleProject({})
    expect(readCommit(folder)).toBeNull()
    git(folder, 'init', '-q')
    expect(readCommit(folder)).toBeNull()
  })

  test.each(['../../../etc/passwd', 'refs/heads/../../../secret', 'refs/heads/.hidden', 'refs/heads/a\u001b[2J'])(
    'ATK-144 is null where HEAD names %j',
    async (ref) => {
      const { folder } = await repository()
      const secret = 'a'.repeat(40)
      await writeFile(join(folder, 'secret'), secret)
      await writeFile(join(folder, '.git/HEAD'), `ref: ${ref}\n`)
      expect(readCommit(folder)).toBeNull()
    },
  )

  test('never is what a file of another kind holds', async () => {
    const { folder } = await repository()
    const head = join(folder, '.git/refs/heads/main')
    expect(await readFile(head, 'utf8')).toMatch(/^[0-9a-f]{40}\n$/)
    await writeFile(head, 'hunter2')
    expect(readCommit(folder)).toBeNull()
    await rm(join(folder, '.git'), { recursive: true })
    await writeFile(join(folder, '.git'), 'gitdir: /nonexistent')
    expect(readCommit(folder)).toBeNull()
  })
})
