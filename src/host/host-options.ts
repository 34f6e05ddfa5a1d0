import type { Runtime } from '../lib/runtime.js'
import type { StopTimes } from './sockets/stop.js'

export interface HostOptions {
  /** One key a line: 32 bytes in base64. The first wraps, all open. Default: `masterKeyFile`. */
  masterKey?: string | undefined
  /** A file of such keys with mode 0600. Default: `master.key` in `data`, made at the first start. */
  masterKeyFile?: string | undefined
  /** Shows the address of the set-up page on the operator's terminal. Default: nothing does. */
  show?: ((text: string) => void) | undefined
  runtime?: Runtime | undefined
  stopTimes?: StopTimes | undefined
}

/** A host of applications. */
export interface Host {
  /**
   * Locks the folder, opens the store and listens.
   *
   * @throws {SettingsError} when the folder, a key or an address cannot be used; everything is closed again
   */
  listen(): Promise<void>
  /** Answers what is running, ends the applications and frees the folder. `/health` is 503 from the call on. */
  close(): Promise<void>
}
