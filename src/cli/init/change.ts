/** A file to write. */
export interface Change {
  path: string
  /** Null: the file is new. */
  before: string | null
  after: string
  /** Only the owner may read the file. The diff hides its other lines and all secrets. */
  isSecret: boolean
}
