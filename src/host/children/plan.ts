import type { StartOptions } from '../runner/start-options.js'

/** What a start of a space needs. Asked for at each start, so that environment and release are those of now. */
export interface ChildPlan {
  spaceId: string
  /** The name of the space: the first segment of its addresses. */
  name: string
  /** The number of the release. */
  release: number
  /** SHA-256 of `bundle.mjs`, hexadecimal. */
  hash: string
  /** Absolute path of the unpacked release. */
  releaseFolder: string
  /** Absolute path. In the mode `process` the child may write here and nowhere else. It is made when it is missing. */
  temporaryFolder: string
  env: Readonly<Record<string, string>>
  limits: ChildLimits
  /** In the mode `process` every child has the network of this machine. */
  hasNetwork: boolean
  compat: StartOptions['compat']
  /** Serves the space's data on this socket, to requests that have the key. */
  openData(socketPath: string, key: string): Promise<OpenData>
}

export interface OpenData {
  close(): Promise<void>
}

export interface ChildLimits {
  /** The largest body that the child parses, in bytes. */
  bodyBytes: number
  /** How long a handler may take, in milliseconds. */
  requestMs: number
  /** The largest head of a request from the front, in bytes. */
  headerBytes: number
  /** How long a release may take until it is ready, in milliseconds. */
  startMs: number
  /** The JavaScript heap, in bytes. The whole process may have 1.5 times as much. */
  memoryBytes: number
  /** Of the temporary folder. */
  temporaryBytes: number
}

const mebibyte = 1024 * 1024
export const defaultChildLimits: ChildLimits = {
  bodyBytes: 10 * mebibyte,
  requestMs: 30_000,
  headerBytes: 64 * 1024,
  startMs: 20_000,
  memoryBytes: 256 * mebibyte,
  temporaryBytes: 256 * mebibyte,
}
