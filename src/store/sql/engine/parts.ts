/** Rows. SQLite accepts 32,766 parameters in a statement and PostgreSQL 65,535. No row of ours has more than 30. */
const partSize = 500

/** The list in parts that one statement can carry, or in smaller ones. */
export function parts<T>(list: readonly T[], size = partSize): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}
