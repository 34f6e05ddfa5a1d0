import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findEntry } from '../../../src/cli/bundle/entry.js'
import { bundleProject } from '../../support/bundle-project.js'

const all = { 'index.js': '', 'app.js': '', 'lib/index.js': '', 'src/server.ts': '' }

describe('the file that makes the application', () => {
  test.each([
    [{ 'index.js': '', 'index.ts': '' }, null, 'index.js'],
    [{ 'index.mjs': '', 'index.ts': '' }, null, 'index.mjs'],
    [{ 'index.ts': '' }, null, 'index.ts'],
    [{ ...all, 'package.json': '{ "main": "app.js" }' }, null, 'app.js'],
    [{ ...all, 'package.json': '{ "main": "./app" }' }, null, 'app.js'],
    [{ ...all, 'package.json': '{ "main": "lib" }' }, null, 'lib/index.js'],
    [{ ...all, 'package.json': '{ "main": 7 }' }, null, 'index.js'],
    [{ ...all, 'package.json': 'no JSON' }, null, 'index.js'],
    [{ ...all, 'package.json': '{ "main": "app.js" }' }, 'src/server.ts', 'src/server.ts'],
    [all, './src/../app.js', 'app.js'],
  ])('of %j with --main %s is %s', async (files, main, entry) => {
    expect(findEntry(await bundleProject(files), main)).toBe(entry)
  })

  test('that is missing is an error that names the option', async () => {
    const folder = await bundleProject({ 'package.json': '{ "main": "dist/app.js" }' })
    expect(() => findEntry(folder, null)).toThrow('package.json names dist/app.js, which is no file')
    expect(() => findEntry(folder, 'nope.js')).toThrow('--main names nope.js, which is no file')
    expect(() => findEntry(folder, '.')).toThrow('--main names ., which is no file')
    expect(() => findEntry(join(folder, '..'), null)).toThrow('--main app.js')
  })

  test.each(['../../../../../../../../etc/passwd', '/etc/passwd', '../secret.js', 'link.js'])(
    'ATK-144 is refused outside the folder: %s',
    async (main) => {
      const folder = await bundleProject({ 'index.js': '' })
      await writeFile(join(folder, '../secret.js'), '')
      await symlink(join(folder, '../secret.js'), join(folder, 'link.js'))
      const refused = expect.objectContaining({ exitCode: 2, message: expect.stringContaining('which is outside') })
      expect(() => findEntry(folder, main)).toThrow(refused)
      await writeFile(join(folder, 'package.json'), JSON.stringify({ main }))
      expect(() => findEntry(folder, null)).toThrow(refused)
    },
  )
})
