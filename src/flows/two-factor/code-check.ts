import type { Ports } from '../../ports.js'

export type CodeCheckPorts = Pick<Ports, 'authenticator' | 'keyring' | 'clock'>

/** How a kind of factor judges a code that somebody typed. */
export interface CodeCheck<Factor, Proof> {
  /** Whether the text looks like a code of this kind. Then no other kind, and no backup code, is tried. */
  recognises(typed: string): boolean
  /** What a right code proves; null for a wrong one. Does not use it up. */
  prove(ports: CodeCheckPorts, of: { userId: string; factor: Factor }, typed: string): Promise<Proof | null>
}
