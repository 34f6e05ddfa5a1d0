import type { Ports } from '../../ports.js'

export type CodeCheckPorts = Pick<Ports, 'authenticator' | 'keyring' | 'clock'>

/** How a kind of factor checks a typed code. */
export interface CodeCheck<Factor, Proof> {
  /** Whether the text looks like a code of this kind. Then no other kind, and no backup code, is tried. */
  recognises(typed: string): boolean
  /** The proof by a right code; null for a wrong one. Does not use it up. */
  prove(ports: CodeCheckPorts, of: { userId: string; factor: Factor }, typed: string): Promise<Proof | null>
}
