import { realMonotonic } from '../../../lib/runtime.js'
import type { DeployStep, Release } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'
import { explained } from './release-failure.js'
import { type ReleasePlace, showSteps, startedAt } from './report.js'

/** Puts a former release in force. @param given its number; null: the one before the current one */
export async function rollBack(tool: Tool, given: string | null): Promise<void> {
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
