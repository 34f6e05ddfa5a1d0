/**
 * One kind of second factor, and all that sign-in needs to know of it.
 *
 * `Factor` is what an account keeps of it; `Proof` is what a right answer proves, until a store uses it up.
 */
export interface FactorKind<Factor extends { kind: string }, Proof extends { kind: string }> {
  kind: Factor['kind']
  /** Whether an account that has one is asked for a second step at each sign-in by password, mailed code or provider. */
  asks: boolean
  /** What the second step of a sign-in accepts for it: a part of `methods` in the answer to the first step. */
  methods: readonly string[]
  /** Whether it also works without a first factor, so that it may be the only way into an account. */
  signsIn: boolean
  /** Whether it can be proved at the site of that RP id; null: passkeys are off. */
  worksAt(factor: Factor, rpId: string | null): boolean
  /** What a session gets for that proof, beside `mfa` (RFC 8176). */
  amr(proof: Proof): readonly string[]
  /** Whether a proof of `was` still holds for `is`: the secret behind it is the same. */
  sameProof(was: Factor, is: Factor): boolean
}
