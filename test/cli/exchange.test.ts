import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exchange, TooSlow } from '../../src/cli/remote/exchange.js'
import { session } from '../support/control-server.js'
import { openDesk } from '../support/tool.js'

const run = promisify(execFile)

async function portOf(server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await expect.poll(() => server.address()).not.toBeNull()
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const request = { method: 'GET', headers: {}, body: null, limitBytes: 1024, limitMs: 300 } as const

describe('one request', () => {
  test('ATK-142 a server that never answers, or never ends its answer, meets the time limit', async () => {
    const silent = createPlainServer(() => {})
    const halting = createPlainServer((_, response) => response.write('{'))
    for (const server of [silent, halting]) {
      const url = `http://127.0.0.1:${await portOf(server)}/`
      await expect(exchange({ ...request, url })).rejects.toBeInstanceOf(TooSlow)
    }
  })

  test.each(['POST', 'PATCH', 'DELETE'] as const)('%s carries its body with its length', async (method) => {
    const seen: unknown[] = []
    const server = createPlainServer(async (received, response) => {
      let text = ''
      for await (const chunk of received) text += String(chunk)
      seen.push([received.method, received.headers['content-length'], received.headers['transfer-encoding'], text])
      response.end('{}')
    })
    const url = `http://127.0.0.1:${await portOf(server)}/`
    expect(await exchange({ ...request, method, url, body: '{"é":1}', limitMs: 30_000 })).toMatchObject({
      status: 200,
      text: '{}',
    })
    expect(seen).toEqual([[method, '8', undefined, '{"é":1}']])
  })
})

describe('https', () => {
  test('ATK-200 a certificate that is not trusted is exit 5, and nothing is sent; NODE_EXTRA_CA_CERTS trusts it', async () => {
    const desk = await openDesk()
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(desk.folder, name))
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const keyArgs = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    await run('openssl', ['req', '-x509', ...keyArgs, ...subject, '-keyout', key ?? '', '-out', cert ?? ''])
    const seen: string[] = []
    const server = createServer(
      { key: await readFile(key ?? ''), cert: await readFile(cert ?? '') },
      (received, response) => {
        seen.push(received.url ?? '')
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(session(2)))
      },
    )
    const url = `https://127.0.0.1:${await portOf(server)}`
    const login = ['login', url, '--password', '-', '--email', 'ann@example.org']
    const refused = await desk.run(login, { input: 'brass' })
    expect(refused.stderr).toContain('its certificate is not trusted')
    expect(refused.code).toBe(5)
    expect(seen).toEqual([])
    const trusted = await desk.run(login, { input: 'brass', env: { NODE_EXTRA_CA_CERTS: cert ?? '' } })
    expect(trusted).toMatchObject({ code: 0 })
    expect(seen).toEqual(['/auth/login'])
  })
})
