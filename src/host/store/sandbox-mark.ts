/** Remembers that the sandbox has worked once, so that the host is never weaker by itself. */
export interface SandboxMark {
  isSet(): Promise<boolean>
  /** @param at Unix seconds */
  set(at: number): Promise<void>
}
