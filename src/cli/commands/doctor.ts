import type { Command } from 'commander'
import { examineHere, examineRemotely } from '../doctor/examine.js'
import { showReport } from '../doctor/show-report.js'
import type { Tool } from '../tool.js'

export const example = 'latchkey doctor'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, place, examined, remoteHome } = open()
    const isLocal = place().mode === 'local'
    showReport(output, await (isLocal ? examineHere(await examined()) : examineRemotely(await remoteHome())))
  })
}
