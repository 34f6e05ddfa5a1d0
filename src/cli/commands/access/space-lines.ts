import type { SpaceSummary } from '../../home.js'

/** What `info` adds in a space host. */
export function spaceLines(space: SpaceSummary | null): string[] {
  if (space === null) return []
  const { name, url, release, environment } = space
  return [
    `Space      ${name}${url === null ? '' : `, ${url}`}`,
    `Release    ${release ?? 'none'}`,
    `Env        ${environment.join(', ') || 'none'}`,
  ]
}
