import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { duration, either, list, nothing, text, wholeNumber } from '../../settings/field.js'

/** A whole number and a unit of 1,024: `'10MiB'`. */
export type Size = `${number}${'KiB' | 'MiB' | 'GiB'}`

const unitBytes: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Reads a size into bytes; null when the text is not a size. */
function parseSize(value: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,5})(KiB|MiB|GiB)$/.exec(value) ?? []
  const factor = unitBytes[unit ?? '']
  return factor === undefined ? null : Number(count) * factor
}

/** A size within bounds. The result is in bytes. */
function size(least: Size, most: Size) {
  const minimum = parseSize(least) ?? 0
  const maximum = parseSize(most) ?? 0
  return text(`must be a size such as '512KiB', '10MiB' or '1GiB', from ${least} to ${most}`, (value) => {
    const bytes = parseSize(value)
    return bytes === null || bytes < minimum || bytes > maximum ? null : bytes
  })
}

const milliseconds = (seconds: number) => seconds * 1000

const spaceName = text('must be the name of a space', (value) => (/^[a-z][a-z0-9-]{0,30}$/.test(value) ? value : null))

/** Whether applications have a network: all, none, or those of these spaces. */
const network = either<boolean | readonly string[], boolean | readonly string[]>((value) =>
  Array.isArray(value) ? list(spaceName) : z.boolean({ error: 'must be true, false, or a list of names of spaces' }),
)

/** What spaces may use. Numbers that are not named keep their defaults. */
const written = z.strictObject({
  body: size('1KiB', '1GiB').prefault('10MiB'),
  stream: size('1KiB', '1024GiB').prefault('1GiB'),
  request: duration('1s', '1h').transform(milliseconds).prefault('30s'),
  start: duration('1s', '10m').transform(milliseconds).prefault('20s'),
  headers: size('4KiB', '1MiB').prefault('32KiB'),
  target: size('1KiB', '256KiB').prefault('16KiB'),
  connections: wholeNumber(1, 100_000).default(512),
  memory: size('32MiB', '256GiB').prefault('256MiB'),
  tmp: size('1MiB', '1024GiB').prefault('256MiB'),
  network: network.prefault(true),
  code: size('64KiB', '1GiB').prefault('16MiB'),
  assets: size('64KiB', '16GiB').prefault('64MiB'),
  releases: wholeNumber(2, 1_000).default(10),
  log: size('64KiB', '1GiB').prefault('5MiB'),
  env: wholeNumber(1, 1_000).default(100),
  document: size('1KiB', '16MiB').prefault('4MiB'),
  // `maxDepth` of host/documents is the most.
  depth: wholeNumber(4, 32).default(32),
  indexes: wholeNumber(1, 1_000).default(64),
  space: size('1MiB', '1024GiB').prefault('10GiB'),
})

/** With the unit in the name. */
export const hostLimits = written.prefault(nothing).transform((given) => ({
  bodyBytes: given.body,
  streamBytes: given.stream,
  requestMs: given.request,
  startMs: given.start,
  headersBytes: given.headers,
  targetBytes: given.target,
  connections: given.connections,
  memoryBytes: given.memory,
  temporaryBytes: given.tmp,
  network: given.network,
  codeBytes: given.code,
  assetsBytes: given.assets,
  releases: given.releases,
  logBytes: given.log,
  variables: given.env,
  documentBytes: given.document,
  depth: given.depth,
  indexes: given.indexes,
  spaceBytes: given.space,
}))

export type HostLimits = Readonly<z.output<typeof hostLimits>>

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
