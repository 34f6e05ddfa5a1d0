import { chmod, chown, mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/cli/address.js'
import { type Environment, processEnvironment } from '../../src/cli/environment.js'
import { distrustOf } from '../../src/cli/files/trusted-file.js'
import { choosePlace } from '../../src/cli/place.js'
import { openDesk } from '../support/tool.js'

const site = 'https://api.example.org'

/** A folder below the home folder of a person, who stands in it. */
async function standIn(...path: string[]): Promise<{ folder: string; environment: Environment }> {
  const { folder: root } = await openDesk()
  const home = await realpath(root)
  const folder = join(home, ...path)
  await mkdir(folder, { recursive: true })
  return { folder, environment: { ...processEnvironment(), variables: {}, folder, homeFolder: home } }
}

const projectFile = (folder: string, url = site) => writeFile(join(folder, 'latchkey.json'), JSON.stringify({ url }))

describe('the place of a command', () => {
  test('--config is local, also with LATCHKEY_URL set', async () => {
    const { folder, environment } = await standIn('a')
    const place = choosePlace({ ...environment, variables: { LATCHKEY_URL: site } }, { config: '../settings.mjs' })
    expect(place).toEqual({
      mode: 'local',
      of: 'application',
      config: join(folder, '..', 'settings.mjs'),
      envFile: null,
    })
  })

  test('--url is remote, and so is LATCHKEY_URL; --url goes first', async () => {
    const { environment } = await standIn('a')
    const variables = { LATCHKEY_URL: 'https://other.example.org' }
    const remote = (url: string) => ({ mode: 'remote', address: parseAddress(url), file: null })
    expect(choosePlace({ ...environment, variables }, {})).toEqual(remote('https://other.example.org'))
    expect(choosePlace({ ...environment, variables }, { url: site })).toEqual(remote(site))
  })

  test('--config with --url is a usage error', async () => {
    const { environment } = await standIn('a')
    expect(() => choosePlace(environment, { config: 'c.js', url: site })).toThrow('not both')
  })

  test('latchkey.json is found in a folder above', async () => {
    const { folder, environment } = await standIn('a', 'b')
    const above = join(folder, '..')
    await projectFile(above)
    const file = join(above, 'latchkey.json')
    expect(choosePlace(environment, {})).toEqual({ mode: 'remote', address: parseAddress(site), file })
  })

  test.each(['latchkey.config.js', 'latchkey.config.mjs', 'latchkey.config.ts'])(
    '%s of this folder is local',
    async (name) => {
      const { folder, environment } = await standIn('a', 'b')
      await projectFile(join(folder, '..'))
      await writeFile(join(folder, name), '')
      const place = { mode: 'local', of: 'application', config: join(folder, name), envFile: null }
      expect(choosePlace(environment, {})).toEqual(place)
    },
  )

  test.each(['latchkey.host.json', 'latchkey.host.js', 'latchkey.host.mjs'])(
    '%s of this folder is local, and of a space host',
    async (name) => {
      const { folder, environment } = await standIn('a', 'b')
      await projectFile(join(folder, '..'))
      await writeFile(join(folder, name), '')
      const place = { mode: 'local', of: 'host', config: join(folder, name), envFile: null }
      expect(choosePlace(environment, {})).toEqual(place)
      expect(choosePlace(environment, { config: name })).toEqual(place)
      await writeFile(join(folder, 'latchkey.config.js'), '')
      expect(() => choosePlace(environment, {})).toThrow('Name one with --config')
    },
  )

  test('ATK-179 latchkey.config.js of a folder above is not used, and ends the search', async () => {
    const { folder, environment } = await standIn('a', 'b', 'c')
    await projectFile(join(folder, '..', '..'))
    await writeFile(join(folder, '..', 'latchkey.config.js'), '')
    expect(() => choosePlace(environment, {})).toThrow('Say where the application is')
  })

  test('the search ends at a folder with .git, whose own latchkey.json counts', async () => {
    const { folder, environment } = await standIn('a', 'b')
    await projectFile(join(folder, '..', '..'))
    await mkdir(join(folder, '..', '.git'))
    expect(() => choosePlace(environment, {})).toThrow('Say where the application is')
    await projectFile(join(folder, '..'))
    expect(choosePlace(environment, {})).toMatchObject({ mode: 'remote' })
  })

  test('the search ends at the home folder', async () => {
    const { folder, environment } = await standIn('a')
    await projectFile(environment.homeFolder)
    expect(() => choosePlace({ ...environment, homeFolder: folder }, {})).toThrow('Say where the application is')
  })

  test('both files in one folder are a usage error', async () => {
    const { folder, environment } = await standIn('a')
    await projectFile(folder)
    await writeFile(join(folder, 'latchkey.config.mjs'), '')
    expect(() => choosePlace(environment, {})).toThrow('has both latchkey.json and latchkey.config.mjs')
  })

  test.each(['{', '[]', '{"url":7}', '{}'])('a latchkey.json of %s is a usage error', async (text) => {
    const { folder, environment } = await standIn('a')
    await writeFile(join(folder, 'latchkey.json'), text)
    expect(() => choosePlace(environment, {})).toThrow('is no JSON object with a "url"')
  })

  describe('ATK-143 the search ends at what others control:', () => {
    const reasons = (environment: Environment) => {
      try {
        choosePlace(environment, {})
        return 'found'
      } catch (error) {
        return Object(error).details.lines.join('\n')
      }
    }

    test.each([
      ['a folder that everyone may write to', 0o777],
      ['a folder that its group may write to', 0o770],
    ])('%s', async (_, mode) => {
      const { folder, environment } = await standIn('a', 'b')
      await projectFile(join(folder, '..'))
      await chmod(join(folder, '..'), mode)
      expect(reasons(environment)).toContain(`chmod go-w '${join(folder, '..')}'`)
    })

    test('a latchkey.json that others may write to', async () => {
      const { folder, environment } = await standIn('a')
      await projectFile(folder)
      await chmod(join(folder, 'latchkey.json'), 0o666)
      expect(reasons(environment)).toContain(`chmod go-w '${join(folder, 'latchkey.json')}'`)
    })

    test('a folder of another owner', async () => {
      const { folder, environment } = await standIn('a')
      await projectFile(folder)
      // What root owns is trusted, so a test that runs as root gives the folder away.
      if (environment.userId === 0) await chown(folder, 65_534, 65_534)
      const other = { ...environment, userId: 1_000_000 }
      expect(reasons(other)).toContain('belongs to another user')
      expect(reasons({ ...environment, userId: null })).toBe('found')
    })

    test('but a folder or file of root is trusted, which can change anything', async () => {
      const { environment } = await standIn('a')
      const other = { ...environment, userId: 1_000 }
      for (const path of ['/etc', '/etc/passwd']) expect(distrustOf(path, other)).toBeNull()
      expect(distrustOf('/tmp', other)).toContain('Others can write to /tmp')
    })
  })

  test('nothing given is exit 2, which names both ways', async () => {
    const desk = await openDesk()
    const { code, stdout, stderr } = await desk.run(['tokens'])
    expect(stderr).toContain('--url https://api.example.org')
    expect(stderr).toContain('--config latchkey.config.js')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('the address of an application', () => {
  test.each([
    [site, site, `${site}/auth`],
    [`${site}/`, site, `${site}/auth`],
    ['HTTPS://API.example.org:443', site, `${site}/auth`],
    [`${site}/shop/auth`, `${site}/shop/auth`, `${site}/shop/auth`],
    [`${site}/shop/auth/`, `${site}/shop/auth`, `${site}/shop/auth`],
    ['http://localhost:3000', 'http://localhost:3000', 'http://localhost:3000/auth'],
  ])('%s is %s, with sign-in at %s', (text, name, auth) => {
    expect(parseAddress(text)).toEqual({ site: name, auth, api: `${auth}/admin/api` })
  })

  test.each(['http://api.example.org', 'api.example.org', '', `${site}?x=1`, `${site}#x`, 'https://a:b@example.org'])(
    '%j is refused',
    (text) => {
      expect(() => parseAddress(text)).toThrow()
    },
  )
})
