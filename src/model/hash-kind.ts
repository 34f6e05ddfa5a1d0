/** A kind of password hash: its scheme and parameters, and how long one computation is estimated to take. */
export interface HashKind {
  name: string
  milliseconds: number
}
