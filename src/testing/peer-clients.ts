import { createRandom } from '../lib/random.js'
import type { OAuthPeerOptions } from './oauth-peer.js'

/** What a provider knows of an application, as the settings spell it. */
export interface PeerClient {
  CLIENT_ID: string
  CLIENT_SECRET: string
  REDIRECT_URI: string
}

export interface PeerClients {
  google: PeerClient
  github: PeerClient
  openid: PeerClient & { ISSUER: string }
}

/** Registers the application at every provider, each time with other secrets. */
export function createPeerClients(options: OAuthPeerOptions, issuer: string): PeerClients {
  const { baseUrl = 'http://localhost:3000', basePath = '/auth' } = options
  const random = createRandom()
  const client = (name: string): PeerClient => ({
    CLIENT_ID: `client-${random.id()}`,
    CLIENT_SECRET: random.token(),
    REDIRECT_URI: `${baseUrl}${basePath}/oauthcallback/${name}`,
  })
  return { google: client('google'), github: client('github'), openid: { ...client('company'), ISSUER: issuer } }
}
