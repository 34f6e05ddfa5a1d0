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

/** The modes of a host; three more without the inner walls, so that the sandbox is shown to hold by itself. */
export const escapeModes = {
  process: { hasPermissionModel: true, hasWall: true, hasNetwork: true },
  sandbox: { hasPermissionModel: true, hasWall: true, hasNetwork: true },
  'sandbox without a network': { hasPermissionModel: true, hasWall: true, hasNetwork: false },
  'sandbox, permission model off': { hasPermissionModel: false, hasWall: true, hasNetwork: true },
  'sandbox alone': { hasPermissionModel: false, hasWall: false, hasNetwork: false },
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
