import { isPlain } from '../documents/values.js'

/** What the front sends over the pipe before anything of the application runs: one line of JSON. */
export interface StartOptions {
  space: string
  /** SHA-256 of the bundle, which `/health` repeats. */
  hash: string
  env: Readonly<Record<string, string>>
  limits: { bodyBytes: number; requestMs: number; headerBytes: number }
  compat: { errors: 'problem' | 'platform'; cors: 'own' | 'echo'; dotPaths: 'nested' | 'literal' }
  /** 256 bits each. `hop` proves that a request comes from the front, `data` opens the data socket. */
  keys: { hop: string; data: string }
  /** Absolute paths of unix sockets: to listen on, and to reach the data. */
  sockets: { requests: string; data: string }
  /** Absolute paths: the bundle in the folder of its release, and mingo's CommonJS build. */
  files: { bundle: string; mingo: string }
}

/** @throws {TypeError} which names the field that is missing */
export function readStartOptions(line: string): StartOptions {
  const sent: unknown = JSON.parse(line)
  const { env, limits, compat, keys, sockets, files, ...rest } = objectOf(sent, 'the line')
  const [numbers, choices] = [objectOf(limits, 'limits'), objectOf(compat, 'compat')]
  const [keyTexts, paths, places] = [objectOf(keys, 'keys'), objectOf(sockets, 'sockets'), objectOf(files, 'files')]
  return {
    space: textOf(rest, 'space'),
    hash: textOf(rest, 'hash'),
    env: Object.fromEntries(Object.entries(objectOf(env, 'env')).map(([name, value]) => [name, String(value)])),
    limits: {
      bodyBytes: numberOf(numbers, 'bodyBytes'),
      requestMs: numberOf(numbers, 'requestMs'),
      headerBytes: numberOf(numbers, 'headerBytes'),
    },
    compat: {
      errors: choices.errors === 'platform' ? 'platform' : 'problem',
      cors: choices.cors === 'echo' ? 'echo' : 'own',
      dotPaths: choices.dotPaths === 'literal' ? 'literal' : 'nested',
    },
    keys: { hop: textOf(keyTexts, 'hop'), data: textOf(keyTexts, 'data') },
    sockets: { requests: textOf(paths, 'requests'), data: textOf(paths, 'data') },
    files: { bundle: textOf(places, 'bundle'), mingo: textOf(places, 'mingo') },
  }
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (!isPlain(value)) throw new TypeError(`The start options lack ${name}.`)
  return value
}

function textOf(from: Record<string, unknown>, name: string): string {
  const value = from[name]
  if (typeof value !== 'string' || value === '') throw new TypeError(`The start options lack ${name}.`)
  return value
}

function numberOf(from: Record<string, unknown>, name: string): number {
  const value = from[name]
  if (typeof value !== 'number' || !(value > 0)) throw new TypeError(`The start options lack ${name}.`)
  return value
}
