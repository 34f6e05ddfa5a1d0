/** What has been done to the tables of a database, and what this release would do. */
export interface Migrations {
  /** In order. `known: false`: done by a newer release, which may well run beside this one. */
  applied: { name: string; at: string; known: boolean }[]
  /** In order, each with the statements it would send; `?` and `$1` stand for values. */
  pending: { name: string; sql: string[] }[]
}
