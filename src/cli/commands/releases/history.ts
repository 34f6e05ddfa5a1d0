import type { Release } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { actorNames } from '../actors.js'
import { size } from '../sizes.js'
import { shortTime } from '../times.js'

const headings = ['RELEASE', 'STATE', 'COMMIT', 'SIZE', 'AUTHOR', 'DEPLOYED', 'FAULT']

/** Prints the releases of the space, newest first. */
export async function showHistory({ output, hostHome }: Tool): Promise<void> {
  const host = await hostHome()
  const releases = await host.listReleases()
  const nameOf = await actorNames(host)
  const rows = releases.map(({ number, state, git, dirty, bytes, author, createdAt, fault }) => [
    String(number),
    state,
    commitOf({ git, dirty }),
    size(bytes),
    nameOf(author),
    shortTime(createdAt, ''),
    fault ?? '',
  ])
  output.table(releases, headings, rows)
  if (rows.length === 0) output.note(`Nothing was deployed to ${host.space()} yet.`)
}

/** `1f0c2ab main`, with `+` where files had changed since. */
function commitOf({ git, dirty }: Pick<Release, 'git' | 'dirty'>): string {
  if (git === null) return 'none'
  return [`${git.hash.slice(0, 7)}${dirty === true ? '+' : ''}`, git.branch ?? ''].join(' ').trim()
}
