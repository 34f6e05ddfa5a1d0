import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { showRestored, showVerified } from './restored.js'
import { undoRestore } from './undo.js'
import { openArchive, uploadArchive } from './upload-archive.js'

interface Options {
  verifyOnly?: boolean
  release?: boolean
  settings?: boolean
  foreign?: boolean
  undo?: boolean
  confirm?: string
}

export const example = 'latchkey restore dev.tar.gz'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[file]', 'an archive of latchkey backup')
    .option('--verify-only', 'Check everything and change nothing')
    .option('--release', 'Put the release of the archive in force, too')
    .option('--settings', 'Bring its settings, too. Not with an admin token')
    .option('--foreign', 'It may be of another installation. Not with an admin token')
    .option('--undo', 'Switch back to the data before the last restore, within 24 hours')
    .option('--confirm <space>', 'The name of the space, instead of typing it. For an archive of another: dev,prod')
    .action(async (file: string | undefined, { undo = false, ...options }: Options) => {
      const tool = open()
      if (undo) {
        if (file !== undefined || Object.keys(options).length > 0)
          throw usage('--undo takes no file and no other option.')
        return undoRestore(tool)
      }
      if (file === undefined) throw usage('Name the archive to restore, or switch back with --undo.')
      const archive = await openArchive(resolve(tool.environment.folder, file))
      const host = await tool.hostHomeToChange()
      const { verifyOnly = false, release = false, settings = false, foreign = false } = options
      const confirm = verifyOnly ? {} : { confirm: await confirmed(tool, host.space(), options) }
      const asked = { ...archive, ...confirm, verify: verifyOnly, release, settings, foreign }
      const restored = await uploadArchive(tool, host, asked)
      if (verifyOnly) showVerified(tool, restored)
      else showRestored(tool, host.space(), restored)
    })
}

/** The host says which other name it wants for an archive of another space. */
async function confirmed({ prompts }: Tool, space: string, { confirm }: Options): Promise<string> {
  if (confirm?.startsWith(`${space},`)) return confirm
  const question = `This replaces the data of ${space}. It can be undone for 24 hours.`
  return prompts.name(question, space, confirm)
}
