/** Those that have to go so that `keep` are left with a new one. The others come newest first, without the new one. */
export function surplus<Row>(others: readonly Row[], keep: number): Row[] {
  return others.slice(Math.max(keep - 1, 0))
}
