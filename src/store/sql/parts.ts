/** SQLite takes 32,766 parameters in one statement and PostgreSQL 65,535; no row of ours has more than 30. */
const partSize = 500

/** The list in parts that one statement can carry. */
export function parts<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / partSize) }, (_, index) =>
    list.slice(index * partSize, (index + 1) * partSize),
  )
}
