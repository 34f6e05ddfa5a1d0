import { controlPath } from './control-path.js'

/** How a request arrived at the server: the evidence for the checks of the network between tool and application. */
export interface DoctorEcho {
  /** Which installation answers: the id that its store has. */
  installationId: string
  /** Origin and path of the setting. */
  baseUrl: string
  /** The client's address as limits and allow-list see it; null when it cannot be known. */
  ip: string | null
  /** Whether that address is one of a trusted proxy, which may state any other address. */
  fromTrustedProxy: boolean
  /** Of the connection to the server; null where the platform does not show it. */
  scheme: 'http' | 'https' | null
  /** The header Host as it arrived. */
  host: string | null
  /** Forwarding headers as they arrived, by lower-case name. Only those of a fixed list. */
  headers: Readonly<Record<string, string>>
  trustedProxies: 'none' | 'count' | 'networks'
  /** The Set-Cookie line of the test cookie as it was sent. */
  cookie: string
}

/** Headers by which proxies describe the request that they forward. None of them carries a credential. */
export const forwardingHeaders = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-scheme',
  'x-scheme',
  'true-client-ip',
  'cf-connecting-ip',
  'fly-client-ip',
  'via',
] as const

/** Those of them that name the client. A proxy on the client's side may add the others. */
const namingClients: readonly string[] = [
  'x-forwarded-for',
  'forwarded',
  'x-real-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fly-client-ip',
]

/** The first header by which a proxy named the client; null when there is none. */
export function clientHeaderIn(headers: DoctorEcho['headers']): string | null {
  return namingClients.find((name) => headers[name] !== undefined) ?? null
}

/** The path of the echo, below `basePath`. */
export const echoPath = `${controlPath}/doctor/echo`
