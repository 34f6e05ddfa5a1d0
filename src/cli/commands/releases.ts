import { realMonotonic } from '../../lib/runtime.js'
import { defineCommand } from '../command.js'
import type { DeployStep, LogLine, Release } from '../host-home.js'
import type { Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'
import { type Columns, printList } from './lists.js'
import { actorNames } from './people.js'
import { explained, type ReleasePlace, showSteps, startedAt } from './release-report.js'
import { pastTime, shortTime, size } from './units.js'

export const deploy = defineCommand({
  example: 'latchkey deploy --space dev',
  options: [
    ['--dir <folder>', 'The folder of the application (default: the current one)'],
    ['--main <file>', 'The file that makes the application (default: main of package.json, or index.js)'],
    ['--rollback [release]', 'Put a former release in force again (default: the one before)'],
    ['--history', 'List the releases'],
    ['--no-wait', 'Leave when the upload is whole. The host goes on alone'],
  ],
  async run(tool, { rollback, history = false, dir, main, wait }) {
    const ways = [rollback !== undefined, history, dir !== undefined || main !== undefined]
    if (ways.filter(Boolean).length > 1) throw usage('--rollback, --history and a folder to deploy exclude each other.')
    if (history) await showHistory(tool)
    else if (rollback !== undefined) await rollBack(tool, rollback === true ? null : rollback)
    else {
      const { deployFolder } = await import('./deploy-folder.js')
      await deployFolder(tool, { dir: dir ?? '.', main: main ?? null, wait })
    }
  },
})

/** Prints the releases of the space, newest first. */
async function showHistory({ output, hostHome }: Tool): Promise<void> {
  const host = await hostHome()
  const releases = await host.listReleases()
  const nameOf = await actorNames(host)
  const columns: Columns<Release> = {
    RELEASE: ({ number }) => number,
    STATE: ({ state }) => state,
    COMMIT: commitOf,
    SIZE: ({ bytes }) => size(bytes),
    AUTHOR: ({ author }) => nameOf(author),
    DEPLOYED: ({ createdAt }) => shortTime(createdAt, ''),
    FAULT: ({ fault }) => fault,
  }
  printList(output, releases, columns, { none: `Nothing was deployed to ${host.space()} yet.` })
}

/** `1f0c2ab main`, with `+` where files had changed since. */
function commitOf({ git, dirty }: Release): string {
  if (git === null) return 'none'
  return [`${git.hash.slice(0, 7)}${dirty === true ? '+' : ''}`, git.branch ?? ''].join(' ').trim()
}

/** Puts a former release in force. @param given its number; null: the one before the current one */
async function rollBack(tool: Tool, given: string | null): Promise<void> {
  const { output } = tool
  if (given !== null && !/^[1-9]\d{0,8}$/.test(given))
    throw usage(`--rollback takes the number of a release, not "${given}".`)
  const began = realMonotonic()
  const host = await tool.hostHomeToChange()
  const place = await startedAt(tool, host)
  const number = given === null ? before(place).number : Number(given)
  const steps: DeployStep[] = []
  const { release, warnings } = await host
    .activate(number, (step) => steps.push(step))
    .catch((error: unknown) => explained(error, host, place))
  for (const warning of warnings) output.note(`warning: ${warning}`)
  showSteps(output, { release: release ?? number, steps, place })
  const ms = Math.round(realMonotonic() - began)
  output.result({ release, url: place.url, warnings, ms }, [`Rolled back to release ${number}.`])
}

/** The newest one that served before the current one. @throws {ToolError} `not_found` */
function before({ releases, former }: ReleasePlace): Release {
  const found = releases.find(({ number, state }) => state === 'former' && (former === null || number < former))
  if (found !== undefined) return found
  throw new ToolError(1, 'not_found', 'There is no release to go back to. See: latchkey deploy --history')
}

export const undeploy = defineCommand({
  example: 'latchkey undeploy --space dev',
  options: [['--confirm <space>', 'The name of the space, instead of typing it']],
  async run({ output, prompts, hostHomeToChange }, { confirm }) {
    const host = await hostHomeToChange()
    const space = host.space()
    const question = `This takes the code of ${space} away. Data, tokens and settings stay.`
    await host.undeploy(await prompts.name(question, space, confirm))
    output.result({ space, undeployed: true }, [`Undeployed ${space}. Data, tokens and settings stay.`])
  },
})

export const log = defineCommand({
  example: 'latchkey log --follow --since 10m',
  options: [
    ['--follow', 'Go on with new lines until Ctrl-C'],
    ['--since <time>', 'From then on, such as 10m (ago) or 2026-11-24'],
    ['--level <level>', 'info or error only'],
  ],
  async run({ output, hostHome }, { follow = false, since, level }) {
    if (level !== undefined && level !== 'info' && level !== 'error') throw usage('--level takes info or error.')
    const query = {
      follow,
      ...(since !== undefined && { since: pastTime(since, '--since') }),
      ...(level !== undefined && { level }),
    }
    for await (const line of (await hostHome()).readLog(query)) {
      if (output.json) output.record(line)
      else output.line(textOf(line))
    }
  },
})

/** The time of day in UTC: `12:00:01.223 info  started`. */
function textOf({ at, level, text }: LogLine): string {
  const [, time] = /T(\d\d:\d\d:\d\d\.\d{3})/.exec(at) ?? []
  return `${time ?? at} ${level.padEnd(5)} ${text}`
}
