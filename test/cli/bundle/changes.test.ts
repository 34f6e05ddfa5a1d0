import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { hasChanges } from '../../../src/cli/bundle/changes.js'
import { bundleProject } from '../../support/bundle-project.js'
import { git } from '../../support/git-repository.js'

const variables = { PATH: process.env.PATH }

let folder: string
beforeEach(async () => {
  folder = await bundleProject({ 'index.js': 'export default 1\n', '.gitignore': '.env\n' })
  await mkdir(join(folder, 'api'))
  await writeFile(join(folder, 'api/main.js'), '')
  git(folder, 'init', '-q')
  git(folder, 'add', '.')
  git(folder, 'commit', '-q', '-m', 'first')
})

describe('a folder has changes', () => {
  test('only while a file differs from the commit or is not in it', async () => {
    expect(await hasChanges(folder, variables)).toBe(false)
    await writeFile(join(folder, '.env'), 'IGNORED=1\n')
    expect(await hasChanges(folder, variables)).toBe(false)
    await writeFile(join(folder, 'index.js'), 'export default 2\n')
    expect(await hasChanges(folder, variables)).toBe(true)
    // Staged, and still not in the commit.
    git(folder, 'add', '.')
    expect(await hasChanges(folder, variables)).toBe(true)
    git(folder, 'commit', '-q', '-m', 'second')
    expect(await hasChanges(folder, variables)).toBe(false)
    await writeFile(join(folder, 'new.js'), '')
    expect(await hasChanges(folder, variables)).toBe(true)
    // Outside of what is deployed.
    expect(await hasChanges(join(folder, 'api'), variables)).toBe(false)
  })

  test('is unknown without a repository or without git', async () => {
    expect(await hasChanges(await bundleProject({}), variables)).toBeNull()
    expect(await hasChanges(folder, { PATH: '/nonexistent' })).toBeNull()
  })

  test('ATK-144 is asked about the folder, whatever variables of git say, and starts no monitor of its settings', async () => {
    await writeFile(join(folder, 'index.js'), 'export default 2\n')
    const other = await bundleProject({})
    git(other, 'init', '-q')
    expect(await hasChanges(folder, { ...variables, GIT_DIR: join(other, '.git') })).toBe(true)
    const trace = join(other, 'started')
    git(folder, 'config', 'core.fsmonitor', `touch ${trace}; false`)
    expect(await hasChanges(folder, variables)).toBe(true)
    await expect(stat(trace)).rejects.toThrow('ENOENT')
  })
})
