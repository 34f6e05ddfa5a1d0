import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { text } from '../../settings/field.js'

/** Where a socket listens: a port, or a file on this machine. */
export type ListenAddress = { kind: 'tcp'; host: string; port: number } | { kind: 'unix'; path: string }

/** The kernel's bound less the zero byte at its end. */
const longestPathBytes = 103

const sentence =
  "must be an address and a port such as '127.0.0.1:4310' or '[::1]:4310', or the path of a unix socket of at most 103 bytes"

export const listenAddress = text(sentence, (value) => {
  if (/^\.{0,2}\//.test(value)) return unixAddress(value)
  const [, v6, other, digits] = /^(?:\[([^\]]+)\]|([^:[\]\s/]+)):(\d{1,5})$/.exec(value) ?? []
  const port = Number(digits)
  if (digits === undefined || port < 1 || port > 65_535) return null
  const host = v6 ?? other ?? ''
  const isSound = v6 === undefined ? isIP(host) === 4 || /^[A-Za-z0-9.-]{1,253}$/.test(host) : isIP(v6) === 6
  return isSound ? ({ kind: 'tcp', host, port } as const) : null
})

function unixAddress(value: string): ListenAddress | null {
  const path = resolve(value)
  return /\p{Cc}/u.test(value) || Buffer.byteLength(path) > longestPathBytes ? null : { kind: 'unix', path }
}

/** Two sockets at one place. */
export function isSamePlace(one: ListenAddress, other: ListenAddress): boolean {
  if (one.kind === 'unix') return other.kind === 'unix' && one.path === other.path
  return other.kind === 'tcp' && one.port === other.port && one.host === other.host
}
