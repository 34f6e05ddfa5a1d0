import { createRandom } from '../lib/random.js'

/** The application that signs in at the peer. */
export interface PeerApplication {
  /** Where the application stands. Default: that of `testSettings`. */
  baseUrl?: string
  /** Default: `/auth`. */
  basePath?: string
}

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
export function createPeerClients(application: PeerApplication, issuer: string): PeerClients {
  const { baseUrl = 'http://localhost:3000', basePath = '/auth' } = application
  const random = createRandom()
  const client = (name: string): PeerClient => ({
    CLIENT_ID: `client-${random.id()}`,
    CLIENT_SECRET: random.token(),
    REDIRECT_URI: `${baseUrl}${basePath}/oauthcallback/${name}`,
  })
  return { google: client('google'), github: client('github'), openid: { ...client('company'), ISSUER: issuer } }
}
