import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'

interface Options {
  dir?: string
  main?: string
  /** True: the release before the current one. */
  rollback?: string | true
  history?: boolean
  wait: boolean
}

export const example = 'latchkey deploy --space dev'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--dir <folder>', 'The folder of the application (default: the current one)')
    .option('--main <file>', 'The file that makes the application (default: main of package.json, or index.js)')
    .option('--rollback [release]', 'Put a former release in force again (default: the one before)')
    .option('--history', 'List the releases')
    .option('--no-wait', 'Leave when the upload is whole. The host goes on alone')
    .action(async ({ rollback, history = false, dir, main, wait }: Options) => {
      const tool = open()
      const ways = [rollback !== undefined, history, dir !== undefined || main !== undefined]
      if (ways.filter(Boolean).length > 1)
        throw usage('--rollback, --history and a folder to deploy exclude each other.')
      if (history) {
        const { showHistory } = await import('./history.js')
        await showHistory(tool)
      } else if (rollback !== undefined) {
        const { rollBack } = await import('./roll-back.js')
        await rollBack(tool, rollback === true ? null : rollback)
      } else {
        const { deployFolder } = await import('./deploy-folder.js')
        await deployFolder(tool, { dir: dir ?? '.', main: main ?? null, wait })
      }
    })
}
