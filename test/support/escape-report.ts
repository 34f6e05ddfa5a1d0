/** What `escape-host.ts` is given, by absolute paths that its user may read. */
export interface EscapeSite {
  /** Its folder. Nothing that an application sees may name it. */
  home: string
  /** The folder of the host. */
  data: string
  releaseFolder: string
  runner: string
  /** A runner without its wall of built-in modules. */
  openRunner: string
  mingo: string
  /** A SQLite file with a secret in it. */
  database: string
  modes: readonly ModeName[]
}

/**
 * The modes of a host; three more without the inner walls, so that the sandbox is shown to hold by itself; and one without any
 * wall, which shows that a try can succeed.
 */
export const escapeModes = {
  process: { hasSandbox: false, hasPermissionModel: true, hasWall: true, hasNetwork: true },
  sandbox: { hasSandbox: true, hasPermissionModel: true, hasWall: true, hasNetwork: true },
  'sandbox without a network': { hasSandbox: true, hasPermissionModel: true, hasWall: true, hasNetwork: false },
  'sandbox, permission model off': { hasSandbox: true, hasPermissionModel: false, hasWall: true, hasNetwork: true },
  'sandbox alone': { hasSandbox: true, hasPermissionModel: false, hasWall: false, hasNetwork: false },
  'no walls': { hasSandbox: false, hasPermissionModel: false, hasWall: false, hasNetwork: true },
} as const
export type ModeName = keyof typeof escapeModes

/** One try of the hostile application. */
export interface Attempt {
  mode: ModeName
  group: string
  name: string
  /** What it reached; null or absent: nothing. */
  loot?: unknown
  /** Of what was thrown. */
  code?: string
}

export interface EscapeReport {
  tries: Attempt[]
  /** Files of the host that are not as they were, by mode. */
  changed: Record<string, string[]>
  uid: number
  version: string
}
