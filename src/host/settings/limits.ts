import { z } from 'zod'
import { duration, either, list, nothing, text, wholeNumber } from '../../settings/field.js'
import { size } from './size.js'

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
