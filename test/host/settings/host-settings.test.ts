import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SettingsError } from '../../../src/errors.js'
import { parseHostSettings } from '../../../src/host/settings/host-settings.js'

function faultsOf(input: unknown): Record<string, string> {
  try {
    parseHostSettings(input)
    return {}
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return Object.fromEntries(error.faults.map(({ setting, message }) => [setting, message]))
  }
}

const away = { baseUrl: 'https://api.example.com', adminUrl: 'https://admin.example.net' }

describe('the settings of a host', () => {
  test('have a default each', () => {
    const settings = parseHostSettings({})
    expect(settings).toMatchObject({
      project: 'default',
      baseUrl: 'http://127.0.0.1:4310',
      adminUrl: 'http://127.0.0.1:4311',
      listen: { kind: 'tcp', host: '127.0.0.1', port: 4310 },
      adminListen: { kind: 'tcp', host: '127.0.0.1', port: 4311 },
      data: resolve('latchkey-data'),
      trustedProxies: { kind: 'none' },
      isolation: 'auto',
      compat: { errors: 'problem', cors: 'own', dotPaths: 'nested' },
      auth: {},
    })
    expect(settings.limits).toEqual({
      bodyBytes: 10 * 1024 ** 2,
      streamBytes: 1024 ** 3,
      requestMs: 30_000,
      startMs: 20_000,
      headersBytes: 32 * 1024,
      targetBytes: 16 * 1024,
      connections: 512,
      memoryBytes: 256 * 1024 ** 2,
      temporaryBytes: 256 * 1024 ** 2,
      network: true,
      codeBytes: 16 * 1024 ** 2,
      assetsBytes: 64 * 1024 ** 2,
      releases: 10,
      logBytes: 5 * 1024 ** 2,
      variables: 100,
      documentBytes: 4 * 1024 ** 2,
      depth: 32,
      indexes: 64,
      spaceBytes: 10 * 1024 ** 3,
    })
  })

  test('are frozen copies', () => {
    const input = { project: 'shop', limits: { memory: '64MiB' } }
    const settings = parseHostSettings(input)
    input.limits.memory = '1GiB'
    expect(settings.limits.memoryBytes).toBe(64 * 1024 ** 2)
    expect(Object.isFrozen(settings) && Object.isFrozen(settings.limits)).toBe(true)
  })

  test('report every fault at once, and never a value', () => {
    const faults = faultsOf({
      bseUrl: 'http://127.0.0.1:4310',
      listen: 'secret nonsense',
      limits: { memory: '10', request: '30', nothing: 1 },
      trustedProxies: ['0.0.0.0/0'],
      compat: { errors: 'other' },
      auth: { baseUrl: 'https://x.example', cookies: { suffix: 'dev' } },
    })
    expect(Object.keys(faults).sort()).toEqual([
      'auth.baseUrl',
      'auth.cookies.suffix',
      'bseUrl',
      'compat.errors',
      'limits.memory',
      'limits.nothing',
      'limits.request',
      'listen',
      'trustedProxies.0',
    ])
    expect(faults.bseUrl).toBe('is not a setting; did you mean baseUrl?')
    expect(JSON.stringify(faults)).not.toContain('secret nonsense')
  })

  test('must be an object', () => {
    for (const input of [null, [], 'x', undefined]) expect(faultsOf(input)).toEqual({ settings: 'must be an object' })
    expect(faultsOf({ auth: [] })).toHaveProperty('auth', 'must be an object')
  })

  test('know three ways to keep spaces apart, and a network for all, none or some spaces', () => {
    for (const isolation of ['auto', 'sandbox', 'process']) {
      expect(parseHostSettings({ isolation }).isolation).toBe(isolation)
    }
    expect(faultsOf({ isolation: 'none' }).isolation).toBe('must be one of: auto, sandbox, process')
    for (const network of [true, false, [], ['prod', 'dev']]) {
      expect(parseHostSettings({ limits: { network } }).limits.network).toEqual(network)
    }
    expect(faultsOf({ limits: { network: 'prod' } })['limits.network']).toContain('must be true, false, or a list')
    expect(faultsOf({ limits: { network: ['Prod'] } })['limits.network.0']).toContain('name of a space')
  })

  test('take a PostgreSQL database, and quote no other one', () => {
    for (const database of ['postgres://app:pw@db.example/x', 'postgresql://app@localhost/x?host=/run/postgresql']) {
      expect(parseHostSettings({ database }).database).toBe(database)
    }
    expect(parseHostSettings({}).database).toBeNull()
    for (const database of [
      'sqlite:./s3cret.db',
      'mysql://app:s3cret@db.example/x',
      'postgres://db.example/s3cret',
      'postgres://s3cret@db.example',
      'postgres://app:s3cret@db.example:port/x',
      7,
    ]) {
      const faults = faultsOf({ database })
      expect(faults.database).toContain('must be a postgres: URL')
      expect(JSON.stringify(faults)).not.toContain('s3cret')
    }
  })
})

describe('ATK-181 the two origins', () => {
  test('the admin origin is required off loopback, and must have another host name', () => {
    expect(faultsOf({ baseUrl: away.baseUrl }).adminUrl).toContain('is required')
    expect(faultsOf({ ...away, adminUrl: 'https://api.example.com:8443' }).adminUrl).toContain('another host name')
    expect(faultsOf({ ...away, adminUrl: 'https://API.example.com' }).adminUrl).toContain('another host name')
    expect(faultsOf(away)).toEqual({})
  })

  test('on loopback the port must differ, whatever name stands for loopback', () => {
    for (const adminUrl of ['http://127.0.0.1:4310', 'http://localhost:4310', 'http://[::1]:4310']) {
      expect(faultsOf({ adminUrl }).adminUrl).toBe('must have another port than baseUrl')
    }
    expect(faultsOf({ adminUrl: 'http://localhost:4400' })).toEqual({})
  })

  test('the admin URL is an origin, and http is for loopback', () => {
    for (const adminUrl of ['https://admin.example.net/x', 'http://admin.example.net', 'https://*.example.net']) {
      expect(faultsOf({ ...away, adminUrl }).adminUrl).toContain('must be an origin')
    }
  })

  test('the base URL may have a path', () => {
    expect(parseHostSettings({ ...away, baseUrl: 'https://api.example.com/spaces/' }).baseUrl).toBe(
      'https://api.example.com/spaces',
    )
  })
})

describe('sockets', () => {
  test('listen on an address and a port, or on a file', () => {
    const listen = (value: string) => parseHostSettings({ listen: value }).listen
    expect(listen('[::1]:4310')).toEqual({ kind: 'tcp', host: '::1', port: 4310 })
    expect(listen('0.0.0.0:80')).toEqual({ kind: 'tcp', host: '0.0.0.0', port: 80 })
    expect(listen('/run/latchkey/front.sock')).toEqual({ kind: 'unix', path: '/run/latchkey/front.sock' })
    for (const value of ['4310', ':4310', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', '[127.0.0.1]:1', '::1:4310']) {
      expect(faultsOf({ listen: value }).listen).toContain('must be an address and a port')
    }
    expect(faultsOf({ listen: `/${'x'.repeat(103)}` }).listen).toContain('at most 103 bytes')
    expect(faultsOf({ adminListen: '127.0.0.1:4310' }).adminListen).toBe('must be another place than listen')
  })

  test('the peer of a unix socket counts as a trusted proxy', () => {
    const settings = parseHostSettings({ listen: '/run/front.sock', trustedProxies: ['10.0.0.0/8'] })
    expect(settings.trustedProxies).toEqual({ kind: 'cidrs', cidrs: ['10.0.0.0/8', 'unix'] })
    expect(settings.adminTrustedProxies).toEqual({ kind: 'cidrs', cidrs: ['10.0.0.0/8'] })
    expect(parseHostSettings({ adminListen: '/run/admin.sock' }).adminTrustedProxies).toEqual({
      kind: 'cidrs',
      cidrs: ['unix'],
    })
    expect(parseHostSettings({ listen: '/run/front.sock', trustedProxies: 1 }).trustedProxies).toEqual({
      kind: 'hops',
      count: 1,
    })
  })

  test('in the mode process a loopback proxy is allowed', () => {
    expect(faultsOf({ trustedProxies: ['127.0.0.1', '::1'] })).toEqual({})
  })

  test('ATK-184 a folder that makes socket names longer than 103 bytes is refused', () => {
    // `/run/`, 22 characters and `.sock` follow the folder.
    const longest = `/${'x'.repeat(103 - 1 - 32)}`
    expect(faultsOf({ data: longest })).toEqual({})
    expect(faultsOf({ data: `${longest}x` }).data).toContain('with 104 bytes, and 103 are allowed')
    expect(faultsOf({ data: `/${'ä'.repeat(40)}` }).data).toContain('bytes')
  })
})
