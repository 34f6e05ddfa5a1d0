/**
 * Whether a version is in a range of npm. Only what our `package.json` writes is understood: alternatives (`||`) of `^` and
 * `>=`, with or without minor and patch. A prerelease counts as its release.
 *
 * @example isInRange('5.4.3', '^5.4.2 || ^6') // true
 */
export function isInRange(version: string, range: string): boolean {
  const actual = partsOf(version)
  return actual !== null && range.split('||').some((one) => isIn(actual, one.trim()))
}

type Parts = readonly [major: number, minor: number, patch: number]

function isIn(actual: Parts, comparator: string): boolean {
  const [, operator, text = ''] = /^(\^|>=)(.+)$/.exec(comparator) ?? []
  const least = partsOf(text)
  if (least === null || compare(actual, least) < 0) return false
  return operator === '>=' || actual[0] === least[0]
}

function partsOf(text: string): Parts | null {
  const [, major, minor = '0', patch = '0'] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? []
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)]
}

function compare(one: Parts, other: Parts): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}
