// An issuer of tokens of its own, as an identity provider is one: in the process that measures, beside nobody who is measured.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import jwt from 'jsonwebtoken'
import { parties } from './peers/latchkey-settings.js'

export async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' }]
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const about = { ...parties, algorithm: 'RS256', keyid: 'bench', subject: 'ada', expiresIn: '2h' }
  const token = jwt.sign({ email: 'ada@example.com' }, privateKey, about)
  return {
    url: `http://127.0.0.1:${server.address().port}/.well-known/jwks.json`,
    credentials: { authorization: `Bearer ${token}` },
    stop: () => server.close(),
  }
}
