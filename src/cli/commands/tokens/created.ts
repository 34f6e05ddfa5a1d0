import type { CreatedApiToken } from '../../../model/api-token.js'
import type { Output } from '../../output.js'

/** Prints a new token, this one time. */
export function printCreated(output: Output, created: CreatedApiToken): void {
  output.result(created, [`Created new token ${created.token} with access ${created.access}`])
  output.note('Keep it now, it is not shown again. Use it server side only, never in a web page.')
}
