import type { AccessReport } from '../../home.js'

/** The allow-list, and whether the caller is on it. */
export function networkLines({ allowList, you }: AccessReport): string[] {
  const { fixed, added } = allowList
  const lines = [...fixed.map((network) => `${network}  (in the settings)`), ...added]
  const everyone = lines.length === 0 ? ['The whitelist is empty: every IP address may use the API.'] : []
  const own = you === null ? [] : [`Your own address ${you.ip} may ${you.allowed ? '' : 'not '}use the API.`]
  return [...everyone, ...lines, ...own]
}
