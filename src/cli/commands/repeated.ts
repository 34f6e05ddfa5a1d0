/** For an option that may be repeated. */
export function repeated(value: string, former: readonly string[] = []): string[] {
  return [...former, value]
}

/** For an option that may be repeated, or take several values with commas between. */
export function separated(value: string, former: readonly string[] = []): string[] {
  return [...former, ...value.split(',').map((each) => each.trim())].filter((each) => each !== '')
}
