import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'

export interface TlsPostgres {
  port: number
  /** The certificate, for `localhost` only and signed by itself. */
  certificate: string
  close(): Promise<void>
}

/** A PostgreSQL that speaks TLS, in front of one that does not; its key and certificate go into that folder. */
export async function startTlsPostgres(folder: string, target: { host: string; port: number }): Promise<TlsPostgres> {
  const [keyFile, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const asked = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  const out = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', keyFile, '-out', certificate]
  await promisify(execFile)('openssl', ['req', '-x509', ...asked, ...out])
  const [key, cert] = await Promise.all([readFile(keyFile), readFile(certificate)])

  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    // The first message asks for TLS (eight bytes, SSLRequest); `S` says yes.
    client.once('data', () => {
      client.write('S')
      const secure = new TLSSocket(client, { isServer: true, key, cert })
      const upstream = connect(target)
      sockets.add(upstream)
      for (const socket of [secure, upstream]) socket.on('error', () => client.destroy())
      secure.pipe(upstream).pipe(secure)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    certificate,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
